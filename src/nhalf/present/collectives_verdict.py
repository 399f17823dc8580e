# SPDX-License-Identifier: Apache-2.0
"""The verdict on collective operations: which library is fastest where libraries differ."""

from __future__ import annotations

from collections import Counter

from nhalf.base.listing import listed, ranks_text
from nhalf.base.numbers import times
from nhalf.facts.collectives import ClassStanding, standings
from nhalf.facts.facts import Facts
from nhalf.present.wording import count, size_range


def collectives_verdict(facts: Facts) -> str:
    """'In collectives A is fastest in 9 of 12 cases where libraries differ, ...'; '' without any.

    A case is an operation at the sizes of a class on some ranks, as a cell of the table.
    """
    decided = [standing for standing in standings(facts) if _is_won(standing)]
    if not decided:
        return ""
    wins = Counter(standing.standing.best for standing in decided)
    (leader, won), *other_wins = wins.most_common()
    title = facts.titles.get(leader, leader)
    cases = count(len(decided), "case")
    further = listed([f"{facts.titles.get(name, name)} in {number}" for name, number in other_wins])
    most = max(
        (standing for standing in decided if standing.standing.best == leader), key=_largest_ratio
    )
    in_cases = "all of them" if won == len(decided) else str(won)
    return (
        f"In collectives libraries differ in {cases}: {title} is fastest in {in_cases}, by up to "
        f"{times(_largest_ratio(most))} ({_place(most)}){'; ' * bool(further)}{further}."
    )


def _is_won(standing: ClassStanding) -> bool:
    """Whether one library is faster than all others."""
    return bool(standing.standing.behind) and not standing.standing.level


def _largest_ratio(standing: ClassStanding) -> float:
    return max(ratio.median for _, ratio in standing.standing.behind)


def _place(standing: ClassStanding) -> str:
    """'bcast, 8 B to 1 KiB, 8 ranks'."""
    first, last = standing.sizes_bytes[0], standing.sizes_bytes[-1]
    sizes = f", {size_range(first, last)}" if last else ""
    return f"{standing.pattern}{sizes}, {ranks_text(standing.ranks)}"
