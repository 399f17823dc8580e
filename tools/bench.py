"""What nhalf costs and how steady it is, side by side with the Intel MPI Benchmarks.

`python tools/bench.py [--out docs/benchmarks] [--only accuracy,spread] [--runs 10]` measures and
writes one JSON file for each, and its section of a page. The Intel wheel brings IMB-MPI1; both
programs run on that library, in turn, so that a machine that changes its speed disturbs both.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from benchmarks import (
    accuracy,
    asked_programs,
    bearing,
    bearing_injected,
    by_ranks,
    collectives,
    coverage,
    curve_time,
    improve,
    libraries,
    link_rates,
    loop_bounds,
    machines,
    many_ranks,
    many_sizes,
    models,
    modern,
    overhead,
    predicted_timelines,
    preload,
    preloaded_imb,
    records,
    sections,
    spread,
    virtual_network,
    watching,
)

Benchmark = Callable[[int], tuple[Any, str]]

BENCHMARKS: dict[str, tuple[Benchmark, str]] = {
    "overhead": (overhead.measure, "How much time does the harness add to one message?"),
    "accuracy": (accuracy.measure, "Does nhalf report the same ping-pong times as IMB?"),
    "collectives": (
        collectives.measure,
        "Does nhalf report the same times of collective operations as IMB?",
    ),
    "preload": (
        preload.measure,
        "How much faster are routed collective operations than the library's own?",
    ),
    "many-sizes": (
        many_sizes.measure,
        "What do calls of many sizes lose while preloaded collectives learn?",
    ),
    "imb": (
        preloaded_imb.measure,
        "Is IMB, unchanged, anywhere slower with preloaded collectives?",
    ),
    "by-ranks": (
        by_ranks.measure,
        "What does nhalf say of this machine, with as many ranks as it has cores for?",
    ),
    "time": (curve_time.measure, "How long does a whole curve take, and how precise is it?"),
    "spread": (
        spread.measure,
        "How far apart are repeated runs, and do the intervals contain the next one?",
    ),
    "coverage": (
        coverage.measure,
        "How often does an interval contain the value of the next run?",
    ),
    "links": (link_rates.measure, "How accurate are measured rates of links with a known rate?"),
    "ranks": (many_ranks.measure, "How many ranks can the model machine simulate, and how fast?"),
    "loops": (loop_bounds.measure, "How near are predictions of loops, beside OSACA and llvm-mca?"),
    "machines": (
        machines.measure,
        "How well are machines of record predicted, without the figures compared?",
    ),
    "records": (records.measure, "What do engines say of published figures, without them?"),
    "modern": (
        modern.measure,
        "Do published collective operations since 2010 follow from the ping-pong beside them?",
    ),
    "models": (models.measure, "How far off are models on cells that they did not see?"),
    "bearing": (
        bearing.measure,
        "How near is a predicted slow-down to that on a machine that is slower?",
    ),
    "injected": (
        bearing_injected.measure,
        "How near is a predicted slow-down to what an injected delay costs on a real library?",
    ),
    "improve": (
        improve.measure,
        "Does `nhalf improve` find what slows a program down, and claim no gain that is none?",
    ),
    "libraries": (
        libraries.measure,
        "How near is a prediction for another MPI library to launches of it?",
    ),
    "asked": (
        asked_programs.measure,
        "How near is a prediction with an installed library's answers to the program on it?",
    ),
    "timelines": (
        predicted_timelines.measure,
        "How long does a prediction from a long timeline take, beside SimGrid's replay of it?",
    ),
    "virtual": (
        virtual_network.measure,
        "How near is virtual time to that of a network that is there?",
    ),
    "watching": (watching.measure, "What does it cost a program to be watched?"),
    "late": (watching.name_late, "Is the rank named that becomes late, and no other?"),
}
"""Each with what its section answers."""
RUNS = 10
RUNS_OF = {"improve": 20, "late": 30}
"""How often each is run unless `--runs` says so, and those that are run more often."""


def main(arguments: Sequence[str]) -> int:
    """Run the chosen benchmarks one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    parser.add_argument("--only", default=",".join(BENCHMARKS))
    parser.add_argument("--runs", type=int)
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    for name in chosen.only.split(","):
        measure, question = BENCHMARKS[name]
        figures, page = measure(chosen.runs or RUNS_OF.get(name, RUNS))
        (chosen.out / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
        sections.write(chosen.out, name, sections.section(name, question, page))
        sys.stdout.write(page + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
