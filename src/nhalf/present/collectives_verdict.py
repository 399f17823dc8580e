# SPDX-License-Identifier: Apache-2.0
"""The verdict on collective operations: which library is fastest where libraries differ."""

from __future__ import annotations

from collections import Counter

from nhalf.base.listing import ranks_text
from nhalf.base.numbers import times
from nhalf.facts.collectives import ClassStanding, standings
from nhalf.facts.facts import Facts
from nhalf.present.wording import count, size_range


def collectives_verdict(facts: Facts) -> str:
    """'In collectives A is fastest in 9 cases, by up to 2.0x (...), B in 3.'; '' without any.

    A case is a cell of the table in fastest_by_ranks.py that names one library, and the factor is
    that of the table, to the next library.
    """
    cases = [standing for standing in standings(facts) if standing.lead is not None]
    if not cases:
        return ""
    (leader, won), *other_wins = Counter(case.standing.best for case in cases).most_common()
    largest = max((case for case in cases if case.standing.best == leader), key=_lead)
    words = [
        f"{facts.titles.get(leader, leader)} is fastest in {count(won, 'case')}, by up to "
        f"{times(_lead(largest))} ({_place(largest)})",
        *(f"{facts.titles.get(mpi, mpi)} in {number}" for mpi, number in other_wins),
    ]
    return f"In collectives {', '.join(words)}."


def _lead(case: ClassStanding) -> float:
    return case.lead.median if case.lead else 1.0


def _place(case: ClassStanding) -> str:
    """'bcast, 8 B to 1 KiB, 8 ranks'."""
    first, last = case.sizes_bytes[0], case.sizes_bytes[-1]
    sizes = f", {size_range(first, last)}" if last else ""
    return f"{case.pattern}{sizes}, {ranks_text(case.ranks)}"
