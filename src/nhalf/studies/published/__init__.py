"""The published figures of a machine, each left out and asked of those who can answer."""
