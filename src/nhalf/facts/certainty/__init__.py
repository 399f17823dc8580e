"""How sure the numbers of runs are: precision, states, spread, and what disturbed them."""
