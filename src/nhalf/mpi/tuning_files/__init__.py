"""Tuning files, in each library's own format."""
