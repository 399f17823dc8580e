# SPDX-License-Identifier: Apache-2.0
"""Findings on ways to send: modes, layouts, threads, windows and active messages."""
