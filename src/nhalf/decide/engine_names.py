"""The names of the engines."""

MODEL, LIBRARY, SIMGRID = "model", "library", "simgrid"
ENGINES = (MODEL, LIBRARY, SIMGRID)
"""The cheapest first."""
