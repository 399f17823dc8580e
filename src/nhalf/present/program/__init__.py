# SPDX-License-Identifier: Apache-2.0
"""A traced program in words and charts: findings, panels, tables, --json, the page."""
