# SPDX-License-Identifier: Apache-2.0
"""Findings on memory: its rate, shared arrays and segments of remote memory."""
