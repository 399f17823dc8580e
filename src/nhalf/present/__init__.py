# SPDX-License-Identifier: Apache-2.0
"""Presentation: findings, panels, the report and the terminal. Nothing is computed here."""
