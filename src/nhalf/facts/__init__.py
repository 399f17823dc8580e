"""Everything known about runs and traced programs; each fact is computed once (fact.py)."""
