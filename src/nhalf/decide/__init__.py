"""Decisions: compare, check, predict, choose."""
