"""A program that runs, what it starts, and what it leaves behind."""
