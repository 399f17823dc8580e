# SPDX-License-Identifier: Apache-2.0
"""`nhalf node`: measure what one node can do by itself."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

from nhalf.base.errors import MissingError
from nhalf.base.request import Option
from nhalf.cli.options import OUTPUT, Measured

if TYPE_CHECKING:
    from pathlib import Path

    from nhalf.facts.facts import Facts
    from nhalf.machines.processor import Processor
    from nhalf.store.run import Run


@dataclass(frozen=True, kw_only=True)
class Request(Measured, heading=OUTPUT):
    """What to print about the node, and where its run goes."""

    lfk: Annotated[
        bool,
        Option(
            "Run the 24 Livermore kernels instead: bound, time and advice for each.",
            heading="What",
        ),
    ] = False


def command(request: Request) -> None:
    """Measure this node: caches, units and memory bandwidth, by timing alone.

    nhalf node --out runs/node
    nhalf node --report --json
    nhalf node --lfk
    """
    from nhalf.facts.facts import Facts
    from nhalf.measure.loop.progress import Progress
    from nhalf.node.measuring import begin, measure
    from nhalf.present.terminal.output import emit_json

    if request.lfk:
        _livermore(request)
        return
    outcome = measure(begin(request.out), Progress(request.is_silent))
    facts = Facts.of([outcome.run])
    described = _keep(outcome.run)
    written = _report(request, facts, outcome.run)
    if request.json:
        emit_json(node_json(outcome.run, facts, described))
    elif not request.quiet:
        from nhalf.present.terminal.node import show_node

        show_node(outcome.run, facts, described, written)


def _keep(run: Run) -> Processor | None:
    """Write the processor that was measured into its run, and to where `--machine here` looks.

    nhalf node
    nhalf node --lfk
    """
    from nhalf.machines.processor_file import write
    from nhalf.node.described import keep_here
    from nhalf.node.measured import measured
    from nhalf.node.reading import readings

    ((name, found),) = readings(run.measurements()).items()
    described = measured(found, name, run.environment)
    if described is not None:
        write(described, run.path / "processor.toml")
        try:
            keep_here(described)
        except MissingError as error:  # what was measured is in the run
            sys.stderr.write(f"nhalf: not kept for `--machine here`: {error}\n")
    return described


def node_json(run: Run, facts: Facts, described: Processor | None) -> dict[str, Any]:
    """What `node --json` prints."""
    from nhalf.node.bandwidth import KERNELS

    rows = facts.results.get("caches", [])
    units = described.operations if described else ()
    return {
        "run": str(run.path),
        "caches": [row for row in rows if "level" in row],
        "tlb": [row for row in facts.results.get("translation", []) if "level" in row],
        "sweeps": facts.results.get("sweeps", []),
        "units": [
            {
                "name": one.key,
                "per_cycle": one.per_cycle,
                "per_cycle_ci": one.per_cycle_ci,
                "latency_cycles": one.latency_cycles,
                "latency_ci": one.latency_ci,
            }
            for one in units
        ],
        "stream": [
            {
                "kernel": kernel,
                "level": row["level"],
                "cores": row["ranks"],
                "rate_Bps": row[f"{kernel}_Bps"],
            }
            for row in facts.results.get("stream", [])
            for kernel in KERNELS
            if f"{kernel}_Bps" in row
        ],
        "doubts": [
            said
            for row in (*rows, *facts.results.get("translation", []))
            for said in row.get("doubts", [])
        ],
    }


def _livermore(request: Request) -> None:
    """The Livermore kernels beside their bounds on the processor here, where it was measured."""
    from nhalf.base.errors import MissingError
    from nhalf.facts.facts import Facts
    from nhalf.node.described import HERE, described
    from nhalf.node.livermore.keeping import keep
    from nhalf.node.livermore.table import as_json, measured
    from nhalf.node.measuring import begin
    from nhalf.present.terminal.livermore import show_livermore
    from nhalf.present.terminal.node import show_place
    from nhalf.present.terminal.output import console, emit_json, stdout_console

    try:
        processor = described(HERE)
    except MissingError:
        processor = None
    run, progress = begin(request.out), console()
    table = measured(
        processor,
        lambda what: None if request.is_silent else progress.print(f"running {what}"),
    )
    written = _report(request, Facts.of([keep(run, table).run]), run)
    if request.json:
        name = processor.name if processor else None
        emit_json({"run": str(run.path), "machine": name, "lfk": as_json(table)})
    elif not request.quiet:
        show_livermore(stdout_console(), processor, table)
        show_place(run, written)


def _report(request: Request, facts: Facts, run: Run) -> Path | None:
    """The report, where it was asked for."""
    if not request.report:
        return None
    from nhalf.present.report import write_report

    return write_report(facts, run.path / "report.html")
