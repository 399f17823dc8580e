# SPDX-License-Identifier: Apache-2.0
"""Findings on collective operations, barriers and multicasts."""
