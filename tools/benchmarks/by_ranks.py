"""What does nhalf say of a machine with 2, 4, 8 and 16 ranks, as many as it has cores for?

On every library: two collective operations by `nhalf run`, a program of the shape of many solvers
with and without preloaded collectives in turns, and what `nhalf improve` proves of that program.
"""

from __future__ import annotations

import datetime
import json
import os
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks import preload
from benchmarks.pages import table
from benchmarks.programs import run

RANKS = (2, 4, 8, 16)
SOURCE = Path(__file__).resolve().parents[2] / "tests/native/bench/relaxation.cpp"
STEPS = "60000"
POINTS = (("allreduce", 8), ("bcast", 1 << 16))
RUN = ("--launches", "5", "--budget", "10s")
IMPROVE_BUDGET = "60s"
SECONDS = r'"took_s": ([0-9.]+)'
Row = dict[str, Any]


def measure(rounds: int) -> tuple[Any, str]:
    """All libraries found, with all numbers of ranks for which there are cores."""
    from nhalf.mpi.discover import libraries, newest
    from nhalf.sites.environment import environment
    from nhalf.sites.start import cores

    installed = newest(libraries())
    with tempfile.TemporaryDirectory() as folder:
        rows = [
            row
            for library in installed
            for row in _rows(library, installed, [n for n in RANKS if n <= cores()], rounds, folder)
        ]
    day = datetime.datetime.now(datetime.UTC).date().isoformat()
    figures = {"date": day, "processor": environment()["processor"], "rows": rows}
    return figures, page(figures)


def _rows(
    library: Any, installed: Sequence[Any], all_ranks: Sequence[int], rounds: int, folder: str
) -> Iterator[Row]:
    program = preload.built(library, installed, Path(folder), SOURCE)
    for ranks in all_ranks:
        row: Row = {"library": library.name, "ranks": ranks, "points": _points(library, ranks)}
        row |= {"plain_s": [], "preloaded_s": [], "load": os.getloadavg()[0]}
        for number in range(rounds):
            for name in ("plain_s", "preloaded_s")[:: 1 if number % 2 else -1]:
                is_plain = name == "plain_s"
                words = [str(program), STEPS]
                (told,) = preload.launch(library, installed, program, ranks, words, is_plain)
                row[name].append(told["took_s"])
        yield row | {"improve": _improved(library, program, ranks)}
        sys.stderr.write(f"{library.name}, {ranks} ranks\n")


def _points(library: Any, ranks: int) -> list[Row]:
    """The points of a run, each with the interval of its median over launches."""
    with tempfile.TemporaryDirectory() as folder:
        points = []
        for pattern, size_bytes in POINTS:
            words = [sys.executable, "-m", "nhalf", "run", "--json", *RUN, "--pattern", pattern]
            words += ["--bytes", str(size_bytes), "--ranks", str(ranks), "--mpi", library.name]
            answer = run([*words, "--out", str(Path(folder, pattern))], {})
            points += json.loads(answer)["points"]
    names = ("pattern", "bytes", "median_s", "ci_low_s", "ci_high_s")
    return [{name: point[name] for name in names} for point in points]


def _improved(library: Any, program: Path, ranks: int) -> Row | None:
    """The gain that a search proves, None if it proves none."""
    from nhalf.sites.start import start

    how = start(library, [str(program), STEPS], ranks)
    words = [sys.executable, "-m", "nhalf", "improve", "--quiet", "--json"]
    words += ["--budget", IMPROVE_BUDGET, "--seconds", SECONDS, "--", *how.command]
    told: Row = json.loads(run(words, how.environment))
    gain: Row | None = told["gain"]
    changes = [change["name"] for change in told["changes"]]
    return gain | {"changes": changes} if gain and gain["proven"] else None


def page(figures: Row) -> str:
    """A row for each library and number of ranks."""
    from nhalf.base.units import format_time
    from nhalf.statistics.intervals import ratio_interval

    lines = []
    for row in figures["rows"]:
        times = [
            f"{format_time(point['median_s'])} ({format_time(point['ci_low_s'])} to"
            f" {format_time(point['ci_high_s'])})"
            for point in row["points"]
        ]
        pairs = zip(row["plain_s"], row["preloaded_s"], strict=True)
        ratio = ratio_interval([preloaded_s / plain_s for plain_s, preloaded_s in pairs])
        gain = row["improve"]
        proven = "nothing"
        if gain is not None:
            proven = f"{gain['factor']:.2f} times as fast, {gain['ci_low']:.2f} at least: "
            proven += ", ".join(gain["changes"])
        lines.append(
            [
                *(row["library"], str(row["ranks"]), *times),
                f"{ratio.median:.2f} ({ratio.low:.2f} to {ratio.high:.2f})",
                proven,
            ]
        )
    return table(
        "One machine by ranks",
        f"{figures['processor']}, {figures['date']}. Operations by `nhalf run`, with intervals over"
        " 5 launches; then a program that computes, exchanges halos of 4 KiB, sums a number and"
        " waits: its time with preloaded collectives over that without, in turns, and what"
        f" `nhalf improve --budget {IMPROVE_BUDGET}` proves.",
        ["library", "ranks", "allreduce of 8 B", "bcast of 64 KiB", "preloaded", "improve"],
        lines,
    )
