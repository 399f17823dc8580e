"""Presentation: findings, panels, the report and the terminal. Nothing is computed here."""
