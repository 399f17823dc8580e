# SPDX-License-Identifier: Apache-2.0
"""Panels on memory: its rate, shared arrays and segments of remote memory."""
