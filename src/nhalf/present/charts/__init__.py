# SPDX-License-Identifier: Apache-2.0
"""Drawing code shared by several panels."""
