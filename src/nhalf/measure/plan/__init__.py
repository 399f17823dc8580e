"""What to measure: studies, blocks, axes, sizes, and every point that follows from them."""
