"""How near do MAC and MACS come to measured loops, beside OSACA and llvm-mca?

OSACA (J. Laukemann et al., PMBS 2018) and llvm-mca know the ports of processors from tables;
`nhalf node` measures rates. All three read the same emitted loops of the Livermore kernels.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from benchmarks.loop_tools import Analysed, by_llvm_mca, by_osaca, missing
from benchmarks.pages import table
from benchmarks.programs import run
from nhalf.loops.builds import Build
from nhalf.loops.livermore.corpus import sources_of
from nhalf.loops.rungs import ChosenLoop, chosen_loops, listing
from nhalf.loops.source.program import read_program

NEAR = 0.2
ABOVE = 0.05
LIMITS = ("nhalf MAC", "OSACA ports", "llvm-mca ports")
PREDICTIONS = ("nhalf MACS", "OSACA", "llvm-mca")
HEAD = ["kernel", "build", "MA", *LIMITS, *PREDICTIONS, "measured"]
Row = dict[str, Any]


def measure(runs: int) -> tuple[Any, str]:
    """One run of the kernels; `runs` is not asked for."""
    document = json.loads(run([sys.executable, "-m", "nhalf", "node", "--lfk", "--json"], {}))
    if document["machine"] is None:
        raise SystemExit("bench: this processor was not measured; run `nhalf node`")
    rows = [row for kernel in document["lfk"] for row in _rows(kernel)]
    shares = {name: share_near(rows, name) for name in (*LIMITS, *PREDICTIONS)}
    return {"shares": shares, "rows": rows}, page(rows, shares, missing())


def page(rows: Sequence[Row], shares: dict[str, Row], lacking: Sequence[str]) -> str:
    """The table of all loops, below it how often each prediction is near."""
    note = (
        "Cycles per iteration of the plain source, optimised builds. MA is the bound of the "
        "source. MAC and the ports of OSACA and llvm-mca are what the emitted loop keeps busiest, "
        "MACS and the columns behind it include what waits. A dash: not read, or more than one "
        "path through the loop. " + " ".join(lacking)
    )
    text = table(
        "Livermore kernels: predicted and measured", note.strip(), HEAD,
        [[row["kernel"], row["build"], *map(_cycles, map(row.get, HEAD[2:]))] for row in rows],
    )  # fmt: skip
    lines = [
        "",
        "| prediction | loops | within 20 % | more than 5 % above |",
        "|---|---:|---:|---:|",
    ]
    for name, share in shares.items():
        if share["loops"]:
            near, above = (f"{100 * share[key]:.0f} %" for key in ("near", "above"))
            lines.append(f"| {name} | {share['loops']} | {near} | {above} |")
    return text + "\n".join(lines) + "\n"


def share_near(rows: Sequence[Row], name: str) -> Row:
    """The share of loops whose prediction is within a fifth of the time, and of those above it."""
    ratios = [row[name] / row["measured"] for row in rows if row[name] is not None]
    count = len(ratios)
    return {
        "loops": count,
        "near": sum(abs(ratio - 1) <= NEAR for ratio in ratios) / max(1, count),
        "above": sum(ratio > 1 + ABOVE for ratio in ratios) / max(1, count),
    }


def _rows(kernel: Row) -> Iterator[Row]:
    for timed in kernel["measured"]:
        build = Build(timed["compiler"], tuple(timed["level"].split()))
        if timed["tuned"] or not build.is_optimised:
            continue
        loops = _chosen(build, kernel["kernel"])
        theirs = [_sum(loops, analyse) for analyse in (by_osaca, by_llvm_mca)]
        yield {
            "kernel": f"{kernel['kernel']} {kernel['title']}",
            "build": build.title,
            "MA": kernel["cycles"],
            "nhalf MAC": timed["mac_cycles"] or None,
            "nhalf MACS": timed["macs_cycles"],
            **dict(zip(LIMITS[1:], (each and each.ports_cycles for each in theirs), strict=True)),
            **dict(zip(PREDICTIONS[1:], (each and each.cycles for each in theirs), strict=True)),
            "measured": timed["cycles"],
        }


def _chosen(build: Build, number: int) -> list[ChosenLoop]:
    """The emitted loops of a kernel; none if one of them cannot be read or has several paths."""
    source: Path = sources_of(build)[number]
    program = read_program(source)
    if program.refusals:
        return []
    text = listing(build.compiler, build.level, source)
    loops = [loop for loop in chosen_loops(text, program.loops, True) if loop]
    is_whole = len(loops) == len(program.loops) and not any(loop.emitted.skipped for loop in loops)
    return loops if is_whole else []


def _sum(loops: Sequence[ChosenLoop], analyse: Any) -> Analysed | None:
    """The cycles of an iteration of each loop; None if one of them is unknown."""
    analysed = [(loop.iterations, analyse(loop.emitted)) for loop in loops]
    if not analysed or any(cycles is None for _, cycles in analysed):
        return None
    return Analysed(
        sum(cycles.ports_cycles / count for count, cycles in analysed),
        sum(cycles.cycles / count for count, cycles in analysed),
    )


def _cycles(value: float | None) -> str:
    return "–" if value is None else f"{value:.2f}"
