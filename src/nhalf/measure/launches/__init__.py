"""Whole launches of a user's own program, timed from outside."""
