"""Models: time against size, and time against size and ranks; pure functions of numbers."""
