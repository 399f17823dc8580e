"""Is IMB, unchanged, anywhere slower with preloaded collectives that learn in the running job?"""

from __future__ import annotations

import statistics
from collections.abc import Mapping, Sequence
from typing import Any

from benchmarks.pages import table
from benchmarks.programs import run

OPERATIONS = ("Barrier", "Bcast", "Allreduce", "Reduce", "Allgather", "Alltoall")
SIZES = ("-msglog", "3:18", "-iter", "1000")
RANKS_MAX = 16
TOLERANCE = 1.05
"""IMB prints two decimals of a microsecond, and two equal launches differ by some per cent."""
Cell = tuple[str, int]


def measure(rounds: int) -> tuple[Any, str]:
    """Launches of both in turns, either first in every other round."""
    from nhalf.mpi import discover
    from nhalf.mpi.preload import preload
    from nhalf.sites.start import cores, start

    library = discover.find("intel")
    program = library.prefix / "bin" / "IMB-MPI1"
    words = preload(library, program, None, discover.libraries()).words
    ranks = min(RANKS_MAX, cores())
    options = [str(program), *OPERATIONS, *SIZES, "-npmin", str(ranks)]
    ways = {"plain": options, "preloaded": ["env", *words, *options]}
    times: dict[str, list[dict[Cell, float]]] = {name: [] for name in ways}
    for number in range(rounds):
        for name in sorted(ways, reverse=number % 2 == 0):
            prepared = start(library, ways[name], ranks)
            times[name].append(averages(run(prepared.command, prepared.environment)))
    rows = [row_of(cell, times) for cell in sorted(times["plain"][0])]
    return {"ranks": ranks, "rounds": rounds, "rows": rows}, page(ranks, rounds, rows)


def averages(text: str) -> dict[Cell, float]:
    """IMB's t_avg in microseconds, by operation and size; of barriers by 0."""
    cells: dict[Cell, float] = {}
    operation = ""
    for line in text.splitlines():
        words = line.split()
        if line.startswith("# Benchmarking"):
            operation = words[2]
        elif len(words) == 5 and words[0].isdigit():
            cells[operation, int(words[0])] = float(words[4])
        elif len(words) == 4 and operation == "Barrier" and words[0].isdigit():
            cells[operation, 0] = float(words[3])
    return cells


def row_of(cell: Cell, times: Mapping[str, Sequence[Mapping[Cell, float]]]) -> dict[str, Any]:
    """Medians of a cell, and their ratio."""
    plain_us, preloaded_us = (
        statistics.median(launch[cell] for launch in times[name]) for name in ("plain", "preloaded")
    )
    names = {"operation": cell[0], "bytes": cell[1]}
    times_us = {"plain_us": plain_us, "preloaded_us": preloaded_us}
    return {**names, **times_us, "ratio": preloaded_us / plain_us if plain_us else None}


def page(ranks: int, rounds: int, rows: Sequence[Mapping[str, Any]]) -> str:
    """Ratios of each operation, and the cells that are slower."""
    lines = []
    for operation in OPERATIONS:
        ratios = {
            row["bytes"]: row["ratio"]
            for row in rows
            if row["operation"] == operation and row["ratio"]
        }
        slower = [f"{size} B: {ratio:.2f}" for size, ratio in ratios.items() if ratio > TOLERANCE]
        shown = (min(ratios.values()), statistics.median(ratios.values()), max(ratios.values()))
        columns = [f"{ratio:.2f}" for ratio in shown]
        lines.append([operation, str(len(ratios)), *columns, ", ".join(slower) or "none"])
    median = statistics.median(row["ratio"] for row in rows if row["ratio"])
    return table(
        f"IMB with preloaded collectives beside IMB alone, {ranks} ranks, {rounds} launches of each"
        " in turn",
        f"Preloaded over plain, medians of IMB's t_avg; the median of all {len(rows)} cells is"
        f" {median:.2f}. IMB calls each size 1000 times, from 64 KiB on 640, 320 and 160 times,"
        " after a barrier that is preloaded, too: what the barrier saves is not shown, but ranks"
        " leave it at other times, which operations of a tenth of a microsecond feel.",
        ["operation", "cells", "least", "median", "most", f"above {TOLERANCE}"],
        lines,
    )
