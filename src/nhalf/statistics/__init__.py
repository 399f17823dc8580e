"""Honest statistics: intervals over launches, summaries of points, typed advice."""
