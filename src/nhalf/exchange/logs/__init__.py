"""The log of another program: its text, its parts, and the run that it becomes."""
