# SPDX-License-Identifier: Apache-2.0
"""Curves from run to run: their levels, the changes, and simultaneous environment changes."""
