# SPDX-License-Identifier: Apache-2.0
"""Panels on how sure the numbers are: intervals, states of the machine, warnings, environment."""
