"""The page of the machines of record, read from their files.

`python tools/machine_reference.py` prints it; the documentation contains it by `docs_hooks.py`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from nhalf.base.units import format_rate, format_size, format_time
from nhalf.machines import catalogue
from nhalf.machines.machine import FittedModel, Machine, PatternModel, Segment
from nhalf.machines.topology import in_words as topology_in_words
from nhalf.models.terms import in_words as sum_in_words
from nhalf.present.terminal.machine_list import message_cost
from nhalf.present.terminal.machine_show import operation_lines

MICROSECOND = 1e-6
SHOWN_BYTES = (8, 1 << 10, 1 << 16, 1 << 20)


def machines() -> list[Machine]:
    """The machines of record by year and name."""
    found = [catalogue.machine(name) for name in catalogue.names()]
    return sorted(found, key=lambda machine: (machine.year or 0, machine.name))


def overview() -> str:
    """A table with a row per machine."""
    rows = []
    for machine in machines():
        latency_s, rate_Bps = message_cost(machine)
        cost = f"{format_time(latency_s)} | {format_rate(rate_Bps)}"
        link = f"[`{machine.name}`](#{machine.name})"
        rows.append(f"| {link} | {machine.title} | {machine.year} | {_built(machine)} | {cost} |")
    head = "| name | machine | year | nodes × ranks, network | latency | rate r∞ |"
    return "\n".join([head, "|---|---|---|---|---|---|", *rows])


def reference() -> str:
    """A section per machine: source, models, what is unknown and what is assumed."""
    return "\n\n".join("\n\n".join(_section(machine)) for machine in machines())


def _built(machine: Machine) -> str:
    topology = machine.network.topology if machine.network else None
    ranks = machine.node.ranks if machine.node else "?"
    return f"{topology.nodes} × {ranks}, {topology_in_words(topology)}" if topology else ""


def _section(machine: Machine) -> Iterator[str]:
    yield f"### {machine.title} {{#{machine.name}}}"
    facts = [f"{name}: {text}" for name, text in machine.environment.items()]
    sources = (f"[{place}] {source}" for place, source in enumerate(machine.sources, 1))
    yield f"{'; '.join([machine.source, *sources])}. " + "; ".join(facts) + "."
    lines = [model for model in machine.models if not model.is_table]
    yield from [_curves(lines)] if lines else []
    tables = [model for model in machine.models if model.is_table]
    yield from [_tables(tables)] if tables else []
    if machine.patterns:
        yield _patterns(machine.patterns)
    if machine.points:
        count = len(machine.points)
        figures = "a single figure" if count == 1 else f"{count} single figures"
        yield f"And {figures}, by `nhalf machines show {machine.name}`."
    if machine.operations:
        yield "Collective operations:"
        yield "\n".join(f"- {line}" for line in operation_lines(machine))
    for heading, words in (
        ("Not published", machine.unknown),
        ("Assumed, not published", machine.assumptions),
    ):
        yield f"{heading}:"
        yield "\n".join(f"- {line}" for line in words)


def _tables(models: Sequence[FittedModel]) -> str:
    """A row per curve of points, at a few of its sizes."""
    rows = []
    for model in models:
        times = [format_time(model.time_s(n)) if _holds(model, n) else "" for n in SHOWN_BYTES]
        where = ", ".join(filter(None, (model.pattern, model.mpi, model.placement, model.axes)))
        rows.append(f"| {where} | {len(model.end_bytes)} | {' | '.join(times)} | {model.source} |")
    sizes = " | ".join(map(format_size, SHOWN_BYTES))
    head = f"| curve | sizes | {sizes} | source |"
    return "\n".join([head, "|---" * (len(SHOWN_BYTES) + 3) + "|", *rows])


def _holds(model: FittedModel, size_bytes: int) -> bool:
    return model.segments[0].from_bytes <= size_bytes <= model.segments[-1].to_bytes


def _curves(models: Sequence[FittedModel]) -> str:
    rows = [
        f"| {', '.join(filter(None, (model.pattern, model.placement, model.axes)))} "
        f"| {segment.from_bytes} – {segment.to_bytes} "
        f"| {_line(segment)} | {model.source} |"
        for model in models
        for segment in model.segments
    ]
    return "\n".join(["| curve | n, B | T(n), µs | source |", "|---|---|---|---|", *rows])


def _line(segment: Segment) -> str:
    """t0 + n/r∞ + a √n with n in bytes and rates in bytes per microsecond, which is MB/s."""
    parts = [f"{segment.t0_s / MICROSECOND:.6g}"] if segment.t0_s else []
    if segment.r_inf_Bps < 1e18:
        parts.append(f"n / {segment.r_inf_Bps * MICROSECOND:.7g}")
    if segment.root_s:
        parts.append(f"{segment.root_s / MICROSECOND:.6g} √n")
    return " + ".join(parts).replace("+ -", "− ")


def _patterns(models: Sequence[PatternModel]) -> str:
    rows = [
        f"| {model.pattern}{f' ({model.what})' if model.what else ''} "
        f"| {_range(model.from_bytes, model.to_bytes)} | {_formula(model)} | {model.source} |"
        for model in models
    ]
    return "\n".join(
        [
            "| pattern | n, B | T(n), µs, of p ranks or q = p − 1 partners | source |",
            "|---|---|---|---|",
            *rows,
        ]
    )


def _formula(model: PatternModel) -> str:
    parts = [sum_in_words(model.startup_s, MICROSECOND, model.letter)]
    for terms, factor in ((model.per_byte_s, "n"), (model.per_root_byte_s, "√n")):
        words = sum_in_words(terms, MICROSECOND, model.letter)
        parts += [f"({words}) {factor}"] if terms else []
    ends = (model.from_ranks, model.to_ranks)
    ranks = "" if ends == (2, None) else f"; p = {ends[0]} to {ends[1] or 'all'}"
    ranks = f"; p = {ends[0]}" if ends[0] == ends[1] else ranks
    return " + ".join(filter(None, parts)) + ranks.replace(" to all", " and more")


def _range(low: int, high: int | None) -> str:
    if high is None:
        return f"> {low - 1}" if low else "all"
    return f"{low} – {high}"


if __name__ == "__main__":
    print(f"{overview()}\n\n{reference()}")
