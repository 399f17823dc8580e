# SPDX-License-Identifier: Apache-2.0
"""The measurement itself: launches in shuffled order, point by point, into the journal."""
