# SPDX-License-Identifier: Apache-2.0
"""`nhalf node`: measure what one node can do by itself."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from nhalf.cli.options import OUTPUT, Measured

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts
    from nhalf.store.run import Run


@dataclass(frozen=True, kw_only=True)
class Request(Measured, heading=OUTPUT):
    """What is told of the node, and where its run goes."""


def command(request: Request) -> None:
    """Measure this node: caches, by timing alone."""
    from nhalf.facts.facts import Facts
    from nhalf.measure.loop.progress import Progress
    from nhalf.node.measuring import begin, measure
    from nhalf.present.terminal.output import emit_json

    outcome = measure(begin(request.out), Progress(request.is_silent))
    facts = Facts.of([outcome.run])
    written = None
    if request.report:
        from nhalf.present.report import write_report

        written = write_report(facts, outcome.run.path / "report.html")
    if request.json:
        emit_json(node_json(outcome.run, facts))
    elif not request.quiet:
        from nhalf.present.terminal.node import show_node

        show_node(outcome.run, facts, written)


def node_json(run: Run, facts: Facts) -> dict[str, Any]:
    """What `node --json` prints."""
    rows = facts.results.get("caches", [])
    return {"run": str(run.path), "caches": [row for row in rows if "level" in row]}
