"""ReFrame: a check that measures as a run did, with the run's values as references.

The check is a template (templates/reframe_check.py.j2) with three tables in it: the command line,
the study and the references. The hosts and launchers of the run stay behind: an allocation brings
its own.
"""

import math
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError
from nhalf.base.templates import render
from nhalf.base.units import format_size
from nhalf.exchange.exporters import Exporter, Subject, the_facts
from nhalf.facts.facts import Facts
from nhalf.machines.layout import parse_layout
from nhalf.measure.plan.catalogue import StudyBlock, StudyFile
from nhalf.measure.plan.plan import Plan, read_plan

TEMPLATE = Path(__file__).parent.parent / "templates" / "reframe_check.py.j2"
STUDY = "quick"
PATTERN = "pingpong"
STUDY_FILE = "study.toml"
MINUTES_LEAST = 10
MINUTES_UNKNOWN = 60
"""The limit of a job whose plan has no budget."""


@dataclass(frozen=True)
class Reference:
    """One performance variable: its value and the ends of its interval, in `unit`."""

    name: str
    value: float
    low: float
    high: float
    unit: str
    size: str


class ReFrame(Exporter):
    """One check: latency of the smallest and bandwidth of the largest message, per library."""

    description = "a check for ReFrame that runs nhalf and reads its JSON"

    def text(self, subject: Subject) -> str:
        """The check as Python source; without a run it measures a study and has no references."""
        template_values = _defaults() if subject is None else _of_run(the_facts(subject, "reframe"))
        # Every text in the source goes through one of these two.
        filters = {"quoted": _quoted, "block": _block}
        return render(TEMPLATE, template_values, filters)


def _quoted(text: str) -> str:
    """A text as a string of Python; that of JSON is one."""
    return msgspec.json.encode(text).decode()


def _block(text: str) -> str:
    """Lines escaped for a triple-quoted Python string."""
    return text.replace("\\", "\\\\").replace('"""', '\\"\\"\\"')


def _defaults() -> dict[str, Any]:
    """The values of the template without a run."""
    return {
        "origin": f"the study {STUDY}",
        "study_file": STUDY_FILE,
        "title": f"Messages, by nhalf's study {STUDY}",
        "options": ["run", STUDY, "--json"],
        "study": "",
        "pattern": PATTERN,
        "references": [],
        "tasks": 2,
        "tasks_per_node": 2,
        "minutes": MINUTES_LEAST,
    }


def _of_run(facts: Facts) -> dict[str, Any]:
    """The values of the template from a run: raises InputError if its plan is unknown."""
    name, plan = _plan(facts)
    pattern = PATTERN if PATTERN in plan.patterns else plan.patterns[0]
    nodes, tasks_per_node = _shape(plan)
    minutes = math.ceil(plan.budget_s / 60 * 1.5) if plan.budget_s else MINUTES_UNKNOWN
    return {
        "origin": "run " + " ".join(name.split()),
        "study_file": STUDY_FILE,
        "title": f"Messages as in run {name}, by nhalf",
        "options": ["run", STUDY_FILE, *_options(plan), "--json"],
        "study": _study(name, plan),
        "pattern": pattern,
        "references": _references(facts.summary.filter(pl.col("pattern") == pattern)),
        "tasks": nodes * tasks_per_node,
        "tasks_per_node": tasks_per_node,
        "minutes": max(MINUTES_LEAST, minutes),
    }


def _plan(facts: Facts) -> tuple[str, Plan]:
    """The name and the plan of a run.

    Raises InputError if the plan is unknown, or for several runs.
    """
    names = ", ".join(facts.environments)
    if len(facts.environments) > 1:
        raise InputError(f"{names} are several runs", "export one at a time")
    ((name, environment),) = facts.environments.items()
    try:
        return name, read_plan(environment.get("plan", {}))
    except msgspec.ValidationError as error:
        raise InputError(
            f"{name} has no plan that could be repeated", "export a run of nhalf run"
        ) from error


def _options(plan: Plan) -> list[str]:
    """The options of `nhalf run` that repeat a plan, each ready for a shell."""
    values = {
        "--transport": ",".join(plan.transports),
        "--mpi": ",".join(plan.mpi),
        "--launches": str(plan.launches),
        "--precision": str(plan.precision),
        "--budget": f"{plan.budget_s:g}s" if plan.budget_s else "",
        "--model": plan.options,
        "--seed": str(plan.seed),
        "--timeout": f"{plan.timeout_s:g}s",
    }
    options = [f"{name}={shlex.quote(value)}" for name, value in values.items() if value]
    return options + [f"--mpi-prefix={shlex.quote(path)}" for path in plan.mpi_prefixes]


def _study(name: str, plan: Plan) -> str:
    blocks = []
    for block in plan.blocks:
        content = {name: getattr(block, name) for name in StudyBlock.__struct_fields__}
        content["transports"] = block.transports or []
        plain = StudyBlock(patterns=block.patterns)
        changed_content = {
            name: value
            for name, value in {**content, "ranks": ",".join(map(str, block.ranks))}.items()
            if name in ("patterns", "ranks", "bytes") or value != getattr(plain, name)
        }
        blocks.append(changed_content)
    StudyFile(title="", block=msgspec.convert(blocks, list[StudyBlock]))  # it can be read back
    title = {"title": f"As in run {name}"}
    return msgspec.toml.encode({**title, "block": blocks}).decode()


def _shape(plan: Plan) -> tuple[int, int]:
    """The number of nodes of a plan, and of tasks on each."""
    nodes, per_node = 1, 1
    ranks = max(rank for block in plan.blocks for rank in block.ranks)
    for placement in (name for block in plan.blocks for name in block.placements):
        layout = parse_layout(placement)
        if layout:
            nodes, per_node = max(nodes, layout.hosts), max(per_node, layout.per_host)
        elif placement == "other-node":
            nodes = max(nodes, 2)
    return nodes, max(per_node, math.ceil(ranks / nodes))


def _references(points: pl.DataFrame) -> list[Reference]:
    """Two references per curve: the time of its smallest message, the bandwidth of its largest."""
    references: list[Reference] = []
    key = ["transport", "mpi", "pattern", "algorithm", "ranks", "placement", "axes"]
    for _, curve in points.sort("bytes").group_by(key, maintain_order=True):
        rows = [row for row in curve.to_dicts() if row["verified"] and row["median_s"] > 0]
        if rows:
            references.append(_latency(rows[0]))
        if rows and rows[-1]["bytes"] > 0:
            references.append(_bandwidth(rows[-1]))
    return [
        reference
        for reference in references
        if math.isfinite(reference.low) and math.isfinite(reference.high)
    ]


def _latency(row: dict[str, Any]) -> Reference:
    times = (row["median_s"] * 1e6, row["ci_low_s"] * 1e6, row["ci_high_s"] * 1e6)
    return Reference(_name("latency", row), *times, "us", format_size(row["bytes"]))


def _bandwidth(row: dict[str, Any]) -> Reference:
    """The bytes of a message over its time, in megabytes per second."""
    value, low, high = (
        row["bytes"] / row[name] / 1e6 for name in ("median_s", "ci_high_s", "ci_low_s")
    )
    return Reference(_name("bandwidth", row), value, low, high, "MB/s", format_size(row["bytes"]))


def _name(kind: str, row: dict[str, Any]) -> str:
    """The name of a variable, as the check makes it: letters, digits and underscores."""
    parts = [kind, carrier(row["mpi"], row["transport"]), f"{row['ranks']}_ranks", row["placement"]]
    return re.sub(r"\W+", "_", "_".join(filter(None, [*parts, row["axes"]])))
