# SPDX-License-Identifier: Apache-2.0
"""Panels on pairs of ranks: their distance, and what they take from each other."""
