"""The communication of a traced program: one file per quantity, from the tables of a trace."""
