# SPDX-License-Identifier: Apache-2.0
"""Which library is fastest in each collective operation, by size and number of ranks: a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from nhalf.base.listing import ranks_text
from nhalf.base.numbers import MISSING, times
from nhalf.facts.collectives import ClassStanding, standings
from nhalf.facts.contests import Standing
from nhalf.facts.facts import Facts
from nhalf.present.wording import size_range

Place = tuple[int, str]
"""A number of ranks and their placement."""
Row = dict[Place, ClassStanding]


def fastest_by_ranks(facts: Facts) -> tuple[list[str], list[list[str]]]:
    """Column titles and rows, a row for each operation and size class; no rows without rivals."""
    cells = standings(facts)
    places = sorted({(standing.ranks, standing.placement) for standing in cells})
    rows: dict[tuple[str, str], Row] = {}
    for standing in cells:
        row = rows.setdefault((standing.pattern, standing.size_class), {})
        row[standing.ranks, standing.placement] = standing
    return ["operation", "sizes", *_titles(places)], [
        [pattern, _sizes(list(row.values())), *_cells(row, places, facts.titles)]
        for (pattern, _), row in sorted(rows.items(), key=_order)
    ]


def _titles(places: Sequence[Place]) -> list[str]:
    """'8 ranks', with the placement where some ranks were placed in several ways."""
    is_several = len(places) > len({ranks for ranks, _ in places})
    return [
        f"{ranks_text(ranks)}, {placement}" if is_several else ranks_text(ranks)
        for ranks, placement in places
    ]


def _order(item: tuple[tuple[str, str], Row]) -> tuple[str, int]:
    """By operation, then by size."""
    (pattern, _), row = item
    return pattern, min(standing.sizes_bytes[0] for standing in row.values())


def _sizes(row: Sequence[ClassStanding]) -> str:
    """'8 B to 1 KiB', or '–' of an operation that moves no data."""
    sizes = [size for standing in row for size in standing.sizes_bytes]
    return size_range(min(sizes), max(sizes)) if max(sizes) else MISSING


def _cells(row: Row, places: Sequence[Place], titles: Mapping[str, str]) -> list[str]:
    return [_cell(row[place].standing, titles) if place in row else MISSING for place in places]


def _cell(standing: Standing, titles: Mapping[str, str]) -> str:
    """'MPICH 5.0.2, 2.1x', 'MPICH 5.0.2 or Open MPI 5.0.11', or 'tie' of all libraries."""
    if not standing.behind:
        return "tie"
    names = " or ".join(titles.get(name, name) for name in (standing.best, *standing.level))
    _, next_ratio = standing.behind[0]
    return names if standing.level else f"{names}, {times(next_ratio.median)}"
