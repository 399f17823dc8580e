# SPDX-License-Identifier: Apache-2.0
"""Honest statistics: intervals over launches, summaries of points, typed advice."""
