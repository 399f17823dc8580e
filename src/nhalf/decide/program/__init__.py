"""Replay of a traced program's calls to predict its time on another machine."""
