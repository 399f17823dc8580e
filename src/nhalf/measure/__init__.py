"""Measuring: what is asked (plan), whom (probe), doing it (loop), and the same simulated."""
