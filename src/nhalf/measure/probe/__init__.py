"""Probes: their description, their launches, and how those end."""
