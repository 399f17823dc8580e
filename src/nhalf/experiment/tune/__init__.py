"""Tuning: measure a library's algorithms, write its tuning file, and verify its effect."""
