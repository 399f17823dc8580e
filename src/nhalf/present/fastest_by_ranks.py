"""Which library is fastest in each collective operation, by size and number of ranks: a table."""

from collections.abc import Iterable, Mapping, Sequence

from nhalf.base.listing import ranks_text
from nhalf.base.numbers import MISSING, times
from nhalf.facts.collectives import ClassStanding, standings
from nhalf.facts.facts import Facts
from nhalf.present.wording import size_range

Place = tuple[str, int, str]
"""A run, a number of ranks and their placement."""
Row = dict[Place, ClassStanding]


def fastest_by_ranks(facts: Facts) -> tuple[list[str], list[list[str]]]:
    """Column titles and rows, a row for each operation and size class; no rows without rivals."""
    rows: dict[tuple[str, str], Row] = {}
    for cell in standings(facts):
        row = rows.setdefault((cell.pattern, cell.size_class), {})
        row[cell.run, cell.ranks, cell.placement] = cell
    places = sorted({place for row in rows.values() for place in row})
    return ["operation", "sizes", *_titles(places)], [
        [
            pattern,
            _sizes(row.values()),
            *(_cell(row[place], facts.titles) if place in row else MISSING for place in places),
        ]
        for (pattern, _), row in sorted(rows.items(), key=_order)
    ]


def _titles(places: Sequence[Place]) -> list[str]:
    """'8 ranks', with the run and the placement where there are several of the same ranks."""
    is_of_several_runs = len({run for run, _, _ in places}) > 1
    is_placed = len(places) > len({(run, ranks) for run, ranks, _ in places})
    return [
        f"{run}, " * is_of_several_runs + ranks_text(ranks) + f", {placement}" * is_placed
        for run, ranks, placement in places
    ]


def _order(item: tuple[tuple[str, str], Row]) -> tuple[str, int]:
    """By operation, then by size."""
    (pattern, _), row = item
    return pattern, min(standing.sizes_bytes[0] for standing in row.values())


def _sizes(row: Iterable[ClassStanding]) -> str:
    """'8 B to 1 KiB', or '–' of an operation that moves no data."""
    sizes = [size for standing in row for size in standing.sizes_bytes]
    return size_range(min(sizes), max(sizes)) if max(sizes) else MISSING


def _cell(cell: ClassStanding, titles: Mapping[str, str]) -> str:
    """'MPICH 5.0.2, 2.1x', 'MPICH 5.0.2 or Open MPI 5.0.11, 1.5x', or 'not told apart'."""
    if cell.lead is None:
        return "not told apart"
    names = " or ".join(titles.get(mpi, mpi) for mpi in cell.fastest)
    return f"{names}, {times(cell.lead.median)}"
