# SPDX-License-Identifier: Apache-2.0
"""Findings on runs that are shown together."""
