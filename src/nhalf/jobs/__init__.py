"""Runs as jobs of a batch system: script, submission, and outcome."""
