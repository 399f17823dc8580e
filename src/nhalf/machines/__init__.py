"""The machine file and its contents: curves, parts, costs, algorithms."""
