"""How long a program takes on a machine, by its source."""
