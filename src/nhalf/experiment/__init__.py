"""Experiments: launches in turns until something is proved, or until the budget is spent."""
