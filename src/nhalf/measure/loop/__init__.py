# SPDX-License-Identifier: Apache-2.0
"""Doing it: launches in shuffled order, point by point, into the journal."""
