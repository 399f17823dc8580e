# SPDX-License-Identifier: Apache-2.0
"""A traced program, told and shown: findings, panels, tables, the object for --json, the page."""
