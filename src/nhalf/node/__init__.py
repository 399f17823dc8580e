# SPDX-License-Identifier: Apache-2.0
from nhalf.node.described import described as described
