# SPDX-License-Identifier: Apache-2.0
"""Panels on collective operations, barriers and multicasts."""
