"""The parts of a platform for SimGrid: its shape, its costs and comments."""
