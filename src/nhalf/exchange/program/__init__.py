"""Traces of programs in the forms of others."""

FORMS = ("GOAL", "OTF2", "SimGrid's time-independent traces", "mpiP")
"""The forms of programs that are read, as messages name them."""
