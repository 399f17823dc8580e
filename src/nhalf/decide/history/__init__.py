"""Curves from run to run: their levels, the changes, and simultaneous environment changes."""
