# SPDX-License-Identifier: Apache-2.0
"""Experiments: launches in turns until something is proved, or until the budget is spent."""
