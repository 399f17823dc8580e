"""Bounds of loops from C source (MA): what the units of a processor take at least."""
