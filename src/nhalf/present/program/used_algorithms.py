"""The algorithms of a predicted program in words: those of a library that was asked, and others."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import groupby

from nhalf.base.units import format_size
from nhalf.decide.program.costs import UsedAlgorithm
from nhalf.decide.program.predict import ProgramPrediction


def algorithm_lines(prediction: ProgramPrediction) -> Iterator[str]:
    """Yield what the library named, what was assumed, and why the library was not asked."""
    for is_asked, begin in ((True, f"asked {prediction.library_asked}"), (False, "assumed")):
        used = [row for row in prediction.algorithms if row.is_asked == is_asked]
        if used:
            yield f"  {begin}: {'; '.join(_operations(used))}"
    if prediction.not_asked:
        yield f"  not asked: {'; '.join(prediction.not_asked)}"


def _operations(used: Iterable[UsedAlgorithm]) -> Iterator[str]:
    """Yield each operation with its algorithms by size, the number of ranks where it differs."""
    rows = sorted(used, key=lambda row: (row.operation, row.ranks, row.size_bytes, row.algorithm))
    is_alone = len({row.ranks for row in rows}) == 1
    for (operation, ranks), sizes in groupby(rows, lambda row: (row.operation, row.ranks)):
        runs = [list(run) for _, run in groupby(sizes, lambda row: row.algorithm)]
        parts = [f"{run[0].algorithm} to {format_size(run[-1].size_bytes)}" for run in runs[:-1]]
        text = ", then ".join([*parts, runs[-1][0].algorithm])
        yield f"{operation}{'' if is_alone else f' of {ranks} ranks'} {text}"
