# SPDX-License-Identifier: Apache-2.0
"""Everything known about runs, computed once each and handed down."""
