"""The content of a machine file, for people."""

import textwrap
from collections.abc import Callable, Sequence
from typing import Any, Literal

import msgspec
from rich import box
from rich.console import Console, Group, RenderableType
from rich.markup import escape
from rich.table import Table
from rich.text import Text

from nhalf.base.carrier import carrier
from nhalf.base.errors import library_named, unknown
from nhalf.base.listing import ranks_text
from nhalf.base.numbers import format_number, superscript, whole
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.machines.machine import FittedModel, Machine, Network, PatternModel, PublishedPoint
from nhalf.machines.shared import Amount, ends
from nhalf.machines.topology import SharedMemory
from nhalf.machines.topology import in_words as topology_in_words
from nhalf.models.terms import in_words as sum_in_words
from nhalf.present.terminal import machine_table

WIDTH = 100
NUMBERS = ("p", "size", "t0", "rate r∞", "n½", "per √byte", "time, µs", "rate, MB/s")
NATIVE = "native"
NO_BREAK = "\u00a0"
PUBLISHED_DIGITS = 7
"""More digits than any publication gives."""


def machine_json(machine: Machine, path: str) -> dict[str, Any]:
    """A machine for --json: its form, with axes by name."""
    # A machine that was read has its tables as curves and points.
    names = [name for name in machine.__struct_fields__ if name != "tables"]
    content = {name: getattr(machine, name) for name in names}
    models = [machine_table.model_json(model) for model in machine.models]
    patterns = [machine_table.pattern_json(model) for model in machine.patterns]
    return {"machine": path, **content, "models": models, "patterns": patterns}


def narrowed(machine: Machine, pattern: str, mpi: str) -> Machine:
    """Select one pattern or library of a machine; raises InputError if there is none."""
    patterns = {model.pattern for model in machine.models}
    patterns |= {model.pattern for model in machine.patterns}
    patterns |= {point.pattern for point in machine.points}
    if pattern and pattern not in patterns:
        raise unknown("pattern", pattern, patterns)
    libraries = {model.mpi for model in machine.models} | {
        parameters.mpi for parameters in machine.loggp
    }
    libraries |= {model.mpi for model in machine.patterns}
    if mpi:
        mpi = library_named(mpi, libraries - {""})
    return msgspec.structs.replace(
        machine,
        models=tuple(m for m in machine.models if _is(m.pattern, pattern) and _is(m.mpi, mpi)),
        patterns=tuple(m for m in machine.patterns if _is(m.pattern, pattern) and _is(m.mpi, mpi)),
        operations=tuple(own for own in machine.operations if _is(own.pattern, pattern)),
        points=tuple(point for point in machine.points if _is(point.pattern, pattern)),
        loggp=tuple(
            parameters for parameters in machine.loggp if not pattern and _is(parameters.mpi, mpi)
        ),
    )


def _is(value: str, requested: str) -> bool:
    return not requested or value == requested


def show_machine(console: Console, machine: Machine) -> None:
    """Print title, source, what is unknown and assumed, then the numbers."""
    year = f", {machine.year}" if machine.year else ""
    title = f"{machine.title} ({machine.name}{year})" if machine.title else machine.name
    _line(console, title, style="bold")
    for name, text in _facts(machine):
        _line(console, f"  {name}: {text}")
    for heading, lines in (
        ("Not published", machine.unknown),
        ("Collective operations", operation_lines(machine)),
        ("Assumed, not published", machine.assumptions),
    ):
        if lines:
            console.print()
            _line(console, heading, style="bold")
        for text in lines:
            _line(console, f"  • {text}")
    published = [model for model in machine.models if _is_published(model)]
    measured = [model for model in machine.models if not _is_published(model)]
    parts = [
        *_curves([model for model in published if not model.is_table]),
        *(_table(model) for model in published if model.is_table),
        *machine_table.as_tables(msgspec.structs.replace(machine, models=tuple(measured))),
        *machine_table.pattern_tables([model for model in machine.patterns if model.is_fitted]),
        *_patterns([model for model in machine.patterns if not model.is_fitted]),
        *([_points(machine.points)] if machine.points and not machine.sources else []),
    ]
    for part in parts:
        console.print()
        console.print(part, width=min(WIDTH, console.width))
    if machine.sources:
        _tables_of_points(console, machine.points)


def operation_lines(machine: Machine) -> list[str]:
    """What operations of many ranks are made of, and each one that is recorded."""
    lines = [machine.collectives_by] if machine.collectives_by else []
    for operation in machine.operations:
        words = [f"the algorithm {operation.algorithm}"] if operation.algorithm else []
        if operation.level_s is not None:
            words.append(f"{_amount(operation.level_s, format_time)} a level")
        if operation.operand_Bps is not None:
            words.append(f"operands at {_amount(operation.operand_Bps, format_rate)}")
        numbers = f"{operation.pattern}: {', '.join(words)} ({operation.origin})"
        lines.append(f"{numbers}. {operation.why.strip()}")
    return lines


def _amount(amount: Amount, words: Callable[[float], str]) -> str:
    low, high = ends(amount)
    return words(low) if low == high else f"{words(low)} to {words(high)}"


def _is_published(model: FittedModel) -> bool:
    """Whether a model is of no run and has no intervals."""
    return not model.run and not any(segment.t0_ci for segment in model.segments)


def _line(console: Console, text: str, style: str = "") -> None:
    """Print text, wrapped into lines at its spaces: names of files have hyphens."""
    wrapper = textwrap.TextWrapper(
        WIDTH, subsequent_indent="    ", break_long_words=False, break_on_hyphens=False
    )
    for line in wrapper.wrap(text):
        console.print(line, markup=False, highlight=False, soft_wrap=True, style=style or None)


def _facts(machine: Machine) -> list[tuple[str, str]]:
    """List names and texts, those of the environment last."""
    facts = [("source", machine.source)] if machine.source else []
    facts += [(f"[{place}]", source) for place, source in enumerate(machine.sources, 1)]
    if machine.network:
        nodes = machine.network.topology.nodes
        facts.append(("simulated as", _built(machine, nodes)))
    if machine.protocol and machine.protocol.rendezvous_bytes is not None:
        size = format_size(machine.protocol.rendezvous_bytes)
        facts.append(("rendezvous", f"a send waits for its receive from {size} on"))
    return facts + list(machine.environment.items())


def _built(machine: Machine, nodes: int) -> str:
    words = [f"{whole(nodes) if nodes else 'any number of'} node{'' if nodes == 1 else 's'}"]
    if machine.node:
        ranks = machine.node.ranks
        words[0] += f" of {ranks} rank{'' if ranks == 1 else 's'}"
        if machine.node.nodes_for_users is not None:
            words[0] += f", {machine.node.nodes_for_users} for users"
        if machine.node.memory_Bps is not None:
            words.append(f"memory {format_rate(machine.node.memory_Bps)}")
    if machine.network:
        words += _links(machine.network)
    return ", ".join(words)


def _links(network: Network) -> list[str]:
    words = [topology_in_words(network.topology)]
    if isinstance(network.topology, SharedMemory):
        return words
    if network.bandwidth_Bps is not None:
        words.append(f"links of {format_rate(network.bandwidth_Bps)}")
    if network.latency_s is not None:
        words.append(f"{format_time(network.latency_s)} a link")
    if network.adapter_Bps is not None:
        words.append(f"adapters of {format_rate(network.adapter_Bps)}")
    return words if network.duplex else [*words, "one way at a time"]


def _curves(models: Sequence[FittedModel]) -> list[RenderableType]:
    """A table for each pattern of a library: a row per segment, T(n) = t0 + n/r∞ + a √n."""
    tables: dict[str, list[list[str]]] = {}
    for model in models:
        name = _name(model.pattern, model.algorithm)
        title = f"{name}, {carrier(model.mpi, model.transport)}, {ranks_text(model.ranks)}"
        where = ", ".join(filter(None, (model.placement, model.axes)))
        rows = tables.setdefault(title, [])
        source = model.source
        for segment in model.segments:
            rows.append(
                [
                    where,
                    machine_table.format_range(segment),
                    machine_table.format_t0(segment.t0_s),
                    format_rate(segment.r_inf_Bps),
                    machine_table.format_n_half(segment),
                    format_time(segment.root_s) if segment.root_s else "",
                    source,
                ]
            )
            where, source = " ", " "
    titles = ("where", "sizes", "t0", "rate r∞", "n½", "per √byte", "source")
    return [_compact(titles, rows, title) for title, rows in tables.items()]


def _table(model: FittedModel) -> RenderableType:
    """The points of a published curve: its sizes, times and rates."""
    rows = [
        [format_size(size), format_time(time_s), format_rate(size / time_s), model.source]
        for size in model.end_bytes
        for time_s in [model.time_s(size)]
    ]
    where = ", ".join(filter(None, (model.pattern, model.placement, model.axes)))
    title = f"{where}, {carrier(model.mpi, model.transport)}, {ranks_text(model.ranks)}"
    return _compact(("size", "time, µs", "rate, MB/s", "source"), rows, title)


def _name(pattern: str, algorithm: str) -> str:
    return pattern if algorithm in ("", NATIVE) else f"{pattern}/{algorithm}"


def _patterns(models: Sequence[PatternModel]) -> list[RenderableType]:
    """A row per formula: T(n, p) = startup + per byte n + per √byte √n; no table without any."""
    if not models:
        return []
    notes = list(dict.fromkeys(model.what for model in models if model.what))
    rows = [
        [
            _name(model.pattern, model.algorithm) + _mark(notes, model.what),
            model.placement,
            _range(model.from_bytes, model.to_bytes, format_size),
            _range(model.from_ranks, model.to_ranks, str),
            sum_in_words(model.startup_s, machine_table.MICROSECOND, model.letter) or "0",
            sum_in_words(model.per_byte_s, machine_table.NANOSECOND, model.letter) or "0",
            sum_in_words(model.per_root_byte_s, machine_table.MICROSECOND, model.letter),
            model.source,
        ]
        for model in models
    ]
    titles = ("pattern", "where", "sizes", "p", "startup", "per byte", "per √byte", "source")
    counts = "p ranks, or of q partners" if "q" in {model.letter for model in models} else "p ranks"
    title = f"Patterns of {counts}: µs, per byte ns, per √byte µs"
    return [_compact(titles, rows, title, _explained(notes))]


def _explained(notes: Sequence[str]) -> list[str]:
    return [f"{_mark(notes, note)} {note}" for note in notes]


def _mark(notes: Sequence[str], note: str) -> str:
    """The mark of a note below the table: ¹, or ¹² for the twelfth."""
    return superscript(notes.index(note) + 1) if note else ""


def _range(low: int, high: int | None, words: Callable[[int], str]) -> str:
    if high is None:
        return f"> {words(low - 1)}" if low else "all"
    return words(low) if low == high else f"{words(low)} – {words(high)}"


def _tables_of_points(console: Console, points: Sequence[PublishedPoint]) -> None:
    """A paragraph for each published table: what it is and where it is from, then its figures."""
    tables: dict[tuple[str, ...], list[str]] = {}
    for point in points:
        where = (point.pattern, point.placement, point.axes, ranks_text(point.ranks), point.what)
        size = "" if point.size_bytes is None else f"{format_size(point.size_bytes)}: "
        value = format_rate(point.rate_Bps) if point.rate_Bps else format_time(point.time_s or 0.0)
        figure = f"{size}{value}".replace(" ", NO_BREAK)
        tables.setdefault((*where, point.source), []).append(figure)
    for (*words, source), values in tables.items():
        console.print()
        _line(console, ", ".join(filter(None, words)), style="bold")
        _line(console, f"  {source}")
        _line(console, f"  {'; '.join(values)}")


def _points(points: Sequence[PublishedPoint]) -> RenderableType:
    notes = list(dict.fromkeys(point.what for point in points if point.what))
    rows = [
        [
            point.pattern + _mark(notes, point.what),
            str(point.ranks),
            "" if point.size_bytes is None else format_size(point.size_bytes),
            ", ".join(filter(None, (point.placement, point.axes))),
            ""
            if point.time_s is None
            else format_number(point.time_s / machine_table.MICROSECOND, PUBLISHED_DIGITS),
            "" if point.rate_Bps is None else format_number(point.rate_Bps / 1e6, PUBLISHED_DIGITS),
            "" if point.ratio is None else format_number(point.ratio, PUBLISHED_DIGITS),
            point.source,
        ]
        for point in points
    ]
    titles = ("pattern", "p", "size", "where", "time, µs", "rate, MB/s", "ratio", "source")
    return _compact(titles, rows, "Single figures", _explained(notes))


def _compact(
    titles: Sequence[str], rows: Sequence[Sequence[str]], title: str, notes: Sequence[str] = ()
) -> RenderableType:
    """A table without empty columns; a source that all rows share stands below it."""
    shared = {row[-1] for row in rows} - {" "}
    below = [*notes, *(shared if len(shared) == 1 else ())]
    last = len(titles) - (1 if len(shared) == 1 else 0)
    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for place in range(last):
        if any(row[place] for row in rows):
            justify: Literal["left", "right"] = "right" if titles[place] in NUMBERS else "left"
            # Words may wrap, numbers and formulas stay whole.
            table.add_column(titles[place], justify=justify, no_wrap=titles[place] != "source")
    for row in rows:
        cells = [row[place] for place in range(last) if any(line[place] for line in rows)]
        table.add_row(*map(escape, cells))
    words = Text("\n".join(filter(None, below)), style="dim")
    return Group(Text(title, style="bold"), table, *([words] if words else []))
