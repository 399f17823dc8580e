# SPDX-License-Identifier: Apache-2.0
"""`nhalf node`: measure what one node can do by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nhalf.cli.options import OUTPUT, Measured

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts
    from nhalf.machines.processor import Processor
    from nhalf.store.run import Run


@dataclass(frozen=True, kw_only=True)
class Request(Measured, heading=OUTPUT):
    """What is told of the node, and where its run goes."""


def command(request: Request) -> None:
    """Measure this node: caches and units, by timing alone."""
    from nhalf.facts.facts import Facts
    from nhalf.measure.loop.progress import Progress
    from nhalf.node.measuring import begin, measure
    from nhalf.present.terminal.output import emit_json

    outcome = measure(begin(request.out), Progress(request.is_silent))
    facts = Facts.of([outcome.run])
    described = _keep(outcome.run)
    written = None
    if request.report:
        from nhalf.present.report import write_report

        written = write_report(facts, outcome.run.path / "report.html")
    if request.json:
        emit_json(node_json(outcome.run, facts, described))
    elif not request.quiet:
        from nhalf.present.terminal.node import show_node

        show_node(outcome.run, facts, described, written)


def _keep(run: Run) -> Processor | None:
    """Write the processor that was measured into its run, and to where `--machine here` looks."""
    from nhalf.machines.processor_file import write
    from nhalf.node.described import path_of_here
    from nhalf.node.measured import measured
    from nhalf.node.reading import readings

    ((name, found),) = readings(run.measurements()).items()
    described = measured(found, name, run.environment)
    if described is not None:
        for path in (run.path / "processor.toml", path_of_here()):
            path.parent.mkdir(parents=True, exist_ok=True)
            write(described, path)
    return described


def node_json(run: Run, facts: Facts, described: Processor | None) -> dict[str, Any]:
    """What `node --json` prints."""
    rows = facts.results.get("caches", [])
    units = described.operations if described else ()
    return {
        "run": str(run.path),
        "caches": [row for row in rows if "level" in row],
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
        "unresolved": [said for row in rows for said in row.get("doubts", [])],
    }
