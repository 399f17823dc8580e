"""The measurement itself: launches in shuffled order, point by point, into the journal."""
