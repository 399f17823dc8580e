"""What makes a program faster: candidates, launches in turns, and a proof."""
