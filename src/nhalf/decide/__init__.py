# SPDX-License-Identifier: Apache-2.0
"""Decisions: compare, check, predict, choose."""
