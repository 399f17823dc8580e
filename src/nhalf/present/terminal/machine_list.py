"""`nhalf machines list`: a line for each machine, of record or measured here."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from nhalf.base.errors import InputError
from nhalf.base.numbers import percent, span, whole
from nhalf.base.operations import NATIVE
from nhalf.base.rows import members
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.decide.engine_names import ENGINES
from nhalf.machines import catalogue
from nhalf.machines.curve import PINGPONG, is_between_nodes
from nhalf.machines.machine import Machine
from nhalf.machines.machine_file import read
from nhalf.machines.shared import LONG_WITHIN
from nhalf.machines.topology import Topology, Torus, in_words
from nhalf.present.terminal.output import print_lines
from nhalf.present.terminal.tables import print_table, show_table
from nhalf.present.wording import count, sentence

if TYPE_CHECKING:
    from nhalf.studies.engines.agreement import Agreement, ComparedCell
    from nhalf.studies.published.prover import JudgedFigure, Trial

TITLE_WIDTH = 25
"""With these widths the table has 100 columns at most."""


class Listed(NamedTuple):
    """A machine and where it is."""

    path: Path
    machine: Machine
    is_record: bool


def listed(folder: Path) -> list[Listed]:
    """The machines of record by year, then the machine files under a folder, by path.

    Hidden folders, such as a virtual environment, are left out.
    """
    records = [catalogue.path_of(name) for name in catalogue.names()]
    of_record = [Listed(path, read(path), True) for path in records]
    of_record.sort(key=lambda entry: (entry.machine.year or 0, entry.machine.name))
    ours = {path.resolve() for path in records}
    local = []
    for path in sorted(folder.rglob("*.toml")):
        is_hidden = any(part.startswith(".") for part in path.relative_to(folder).parts)
        if is_hidden or path.resolve() in ours:
            continue
        try:
            local.append(Listed(path, read(path), False))
        except InputError:
            # Other TOML files may lie beside them: only machine files are listed.
            continue
    return of_record + local


def as_json(entry: Listed) -> dict[str, Any]:
    """Describe a machine for --json; null for what is unknown."""
    machine = entry.machine
    latency_s, rate_Bps = message_cost(machine)
    topology = machine.network.topology if machine.network else None
    return {
        "name": machine.name,
        "file": str(entry.path),
        "record": entry.is_record,
        **members(machine, "title", "year", "source"),
        "nodes": topology.nodes or None if topology else None,
        "ranks_per_node": machine.node.ranks if machine.node else None,
        "topology": topology,
        "latency_s": latency_s,
        "bandwidth_Bps": rate_Bps,
        "latency_s_range": machine.range_of("latency between nodes"),
        "bandwidth_Bps_range": machine.range_of("rate between nodes"),
        "models": len(machine.models),
        "patterns": len(machine.patterns),
        "points": len(machine.points),
    }


def message_cost(machine: Machine) -> tuple[float, float]:
    """Start-up time and rate of a ping-pong, NaN without one: the best of several libraries.

    Between neighbouring nodes; within one where no other was measured.
    """
    curves = [model for model in machine.models if model.pattern == PINGPONG and model.segments]
    between = [model for model in curves if is_between_nodes(model.placement)]
    segments = [model.segments for model in between or curves]
    # A rate that falls is published; how far it falls is not.
    last = -2 if machine.range_of(LONG_WITHIN) and not between else -1
    return (
        min((first.time_s(first.from_bytes) for first, *_ in segments), default=math.nan),
        max((of_curve[last].r_inf_Bps for of_curve in segments), default=math.nan),
    )


def middles(machine: Machine) -> dict[str, str]:
    """What `message_cost` says between nodes without that it was published, with its range."""
    words: dict[str, tuple[str, Callable[[float], str]]] = {
        "latency between nodes": ("latency", format_time),
        "rate between nodes": ("rate", format_rate),
    }
    return {
        words[unpublished.of][0]: span(unpublished.low, unpublished.high, words[unpublished.of][1])
        for unpublished in machine.ranges
        if unpublished.of in words
    }


def show_list(console: Console, machines: Sequence[Listed]) -> None:
    """The table, how to add a machine, and where the files are."""
    print_table(_table(machines), console)
    print_lines(console, f"{sentence(catalogue.OF_RECORD)}.", style="dim")
    for entry in machines:
        for name, text in middles(entry.machine).items():
            print_lines(console, f"~ {entry.machine.name}: no {name} is published; it is {text}")
    local = (entry for entry in machines if not entry.is_record)
    print_lines(console, *(f"{entry.machine.name}  {entry.path}" for entry in local))


def _table(machines: Sequence[Listed]) -> Table:
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold", padding=(0, 1, 0, 0))
    table.add_column("name", no_wrap=True)
    table.add_column("year", style="dim", no_wrap=True)
    table.add_column("machine", no_wrap=True, max_width=TITLE_WIDTH, overflow="ellipsis")
    table.add_column("nodes", justify="right", no_wrap=True)
    table.add_column("network", no_wrap=True)
    table.add_column("latency", justify="right", no_wrap=True)
    table.add_column("rate r∞", justify="right", no_wrap=True)
    for entry in machines:
        machine = entry.machine
        latency_s, rate_Bps = message_cost(machine)
        topology = machine.network.topology if machine.network else None
        cells = [
            machine.name,
            str(machine.year or "here"),
            machine.title or machine.source,
            _size(machine),
            short(topology) if topology else "–",
            ("~" if "latency" in middles(machine) else "") + format_time(latency_s),
            ("~" if "rate" in middles(machine) else "") + format_rate(rate_Bps),
        ]
        table.add_row(*map(escape, cells))
    return table


def _size(machine: Machine) -> str:
    """'32 × 1': nodes by ranks on each."""
    ranks = str(machine.node.ranks) if machine.node else "?"
    nodes = machine.network.topology.nodes if machine.network else 0
    return f"{whole(nodes)} × {ranks}" if nodes else "–"


def short(topology: Topology) -> str:
    """The kind of a topology, in 13 letters or less."""
    if isinstance(topology, Torus):
        return in_words(topology)
    return str(topology.__struct_config__.tag).replace("-", " ")


COLUMNS = ("pattern", "ranks", "bytes", *ENGINES, "published", "apart", "reason")


def show(console: Console, answers: Agreement) -> None:
    """Print how many cells agree, then a row for each that does not, and who was not asked."""
    from nhalf.studies.engines.agreement import CLOSE

    apart = answers.apart
    agreeing, cells = len(answers.cells) - len(apart), count(len(answers.cells), "cell")
    print_lines(
        console, f"{answers.machine}: {agreeing} of {cells} agree within {percent(CLOSE, None)}"
    )
    if apart:
        show_table(COLUMNS, [_row(compared) for compared in apart])
    _show_missing(console, answers.missing)


def _show_missing(console: Console, missing: Mapping[str, str]) -> None:
    lines = (f"{engine} was not asked: {reason}" for engine, reason in missing.items())
    print_lines(console, *lines, style="dim")


def show_trial(console: Console, trial: Trial) -> None:
    """Print every figure with the errors of answers, then what does not fit, and who is apart."""
    rows = [_figure(row) for row in trial.rows if row.answers]
    show_table(("figure", "published", *ENGINES, "known"), rows)
    figures = count(len(trial.rows), "published figure")
    doubts = count(len(trial.alarms), "doubt") if trial.alarms else "no doubts"
    head = f"{trial.machine}: {len(rows)} of {figures} have answers without it; {doubts}"
    alarms = (
        f"{alarm.figure}: {alarm.engine} has {alarm.ratio:.3g} {alarm.why}"
        for alarm in trial.alarms
    )
    print_lines(console, head, *alarms)
    if apart := trial.agreement.apart:
        show_table(COLUMNS, [_row(compared) for compared in apart])
    _show_missing(console, trial.agreement.missing)


def _figure(row: JudgedFigure) -> list[str]:
    answers = (row.answers.get(engine) for engine in ENGINES)
    most = "up to " if row.figure.is_ceiling else ""
    words = ["" if answer is None else f"{most}{answer.ratio - 1:+.0%}" for answer in answers]
    published = f"{row.figure.bound_words} {row.figure.text(row.figure.value)}".strip()
    return [row.figure.words, published, *words, row.miss.why if row.miss else ""]


def _row(compared: ComparedCell) -> list[str]:
    cell = compared.cell
    algorithm = "" if cell.algorithm == NATIVE else f" {cell.algorithm}"
    times_s = [*(compared.times_s.get(engine) for engine in ENGINES), compared.published_s]
    return [
        f"{cell.pattern}{algorithm}",
        f"{cell.ranks} ({cell.placement})",
        format_size(cell.size_bytes),
        *("" if time_s is None else format_time(time_s) for time_s in times_s),
        percent(compared.spread, None),
        compared.reason,
    ]
