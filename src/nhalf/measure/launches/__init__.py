# SPDX-License-Identifier: Apache-2.0
"""Whole launches of a user's own program, timed from outside."""
