# SPDX-License-Identifier: Apache-2.0
"""What people see: findings, panels, the report and the terminal. Nothing is computed here."""
