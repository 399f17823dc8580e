"""The verdict on collective operations: which library is fastest where libraries differ."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from nhalf.base.listing import ranks_text
from nhalf.base.numbers import times
from nhalf.facts.collectives import ClassStanding, standings
from nhalf.facts.facts import Facts
from nhalf.present.wording import count, size_range


def collectives_verdict(facts: Facts) -> str:
    """'In collectives A is fastest in 9 cases, by up to 2.0x (...), B in 3.'; '' without any.

    A case is a cell of the table in fastest_by_ranks.py in which some library is slower than the
    fastest ones, and the factor is that of the table, to the next library.
    """
    cases = [standing for standing in standings(facts) if standing.lead is not None]
    if not cases:
        return ""
    # Libraries that are as fast as each other are one answer, whichever of them was ahead.
    (leaders, won), *other_wins = Counter(frozenset(case.fastest) for case in cases).most_common()
    largest = max((case for case in cases if frozenset(case.fastest) == leaders), key=_lead)
    words = [
        f"{_names(leaders, facts)} is fastest in {count(won, 'case')}, by up to "
        f"{times(_lead(largest))} ({_place(largest)})",
        *(f"{_names(fastest, facts)} in {number}" for fastest, number in other_wins),
    ]
    return f"In collectives {', '.join(words)}."


def _names(libraries: Iterable[str], facts: Facts) -> str:
    """'MPICH 5.0.2 or Open MPI 5.0.11'."""
    return " or ".join(sorted(facts.titles.get(mpi, mpi) for mpi in libraries))


def _lead(case: ClassStanding) -> float:
    return case.lead.median if case.lead else 1.0


def _place(case: ClassStanding) -> str:
    """'bcast, 8 B to 1 KiB, 8 ranks'."""
    first, last = case.sizes_bytes[0], case.sizes_bytes[-1]
    sizes = f", {size_range(first, last)}" if last else ""
    return f"{case.pattern}{sizes}, {ranks_text(case.ranks)}"
