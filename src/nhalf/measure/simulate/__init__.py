"""Simulated machines: SimGrid computes the times of their messages."""
