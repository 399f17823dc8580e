"""What do calls of many sizes lose while they learn, where nothing can be gained from learning?

A program calls every collective operation once with each of 10,000 sizes, on two ranks. It is
launched with and without the preloaded collectives, in turns, on every library found.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks import preload
from benchmarks.pages import table

SOURCE = Path(__file__).resolve().parents[2] / "tests/native/bench/many_sizes.cpp"
SIZES, RANKS = 10_000, 2


def measure(runs: int) -> tuple[Any, str]:
    """This many launches of either kind on every library."""
    from nhalf.mpi.discover import libraries

    installed = libraries()
    with tempfile.TemporaryDirectory() as folder:
        programs = {
            library.name: preload.built(library, installed, Path(folder), SOURCE)
            for library in installed
        }
        rows = [in_turns(library, installed, programs[library.name], runs) for library in installed]
    return {"sizes": SIZES, "ranks": RANKS, "rows": rows}, page(rows, runs)


def in_turns(
    library: Any, installed: Sequence[Any], program: Path, runs: int, sizes: int = SIZES
) -> dict[str, Any]:
    """Seconds of each launch without and with the collectives, and the load of the machine."""
    times: dict[str, list[float]] = {"plain_s": [], "learning_s": []}
    loads, digests = [], set()
    for number in range(runs):
        for name in times if number % 2 else reversed(times):
            loads.append(os.getloadavg()[0])
            words = [str(program), str(sizes)]
            is_plain = name == "plain_s"
            (row,) = preload.launch(library, installed, program, RANKS, words, is_plain)
            times[name].append(row["took_s"])
            digests.add(row["digest"])
    if len(digests) > 1:
        raise SystemExit(f"{library.name}: results differ")
    return {"library": library.name, **times, "load_most": max(loads)}


def page(rows: Sequence[dict[str, Any]], runs: int) -> str:
    """The ratios of launches side by side."""
    from nhalf.statistics.intervals import ratio_interval

    shown = []
    for row in rows:
        pairs = zip(row["plain_s"], row["learning_s"], strict=True)
        ratio = ratio_interval([learning_s / plain_s for plain_s, learning_s in pairs])
        interval = f"{ratio.low:.3f} to {ratio.high:.3f}"
        shown.append([row["library"], f"{ratio.median:.3f}", interval, f"{row['load_most']:.1f}"])
    return table(
        f"Every collective operation with {SIZES:,} sizes, {RANKS} ranks, {runs} launches in turns",
        "Time of the program with the collectives that learn over that without, with its 95 % "
        "interval; and the largest load of the machine when a launch began.",
        ["library", "times as long", "interval", "load"],
        shown,
    )
