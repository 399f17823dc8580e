"""Two machines in words, tables and on a terminal: the faster one, by how much, the crossings."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError
from nhalf.base.listing import listed, ranks_text
from nhalf.base.numbers import MISSING, format_number, percent
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.decide.compare_machines import (
    SAME,
    ComparedSize,
    MachineComparison,
    MachineCrossing,
    MachineParameter,
    PatternRatio,
    RatioCurve,
    faster,
    shown_sizes,
)
from nhalf.decide.runs_compared import Likeness, UnlikeSizes
from nhalf.present.terminal.output import print_lines
from nhalf.present.terminal.tables import headed_table

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

NAME_LONGEST = 20
ALIKE = 1.25
"""Factors of short and long messages that differ by less are reported as one."""


def labels(comparison: MachineComparison) -> dict[str, str]:
    """The names of A and B, or these letters if the names are equal or long."""
    a, b = comparison.a.name, comparison.b.name
    if a == b or max(len(a), len(b)) > NAME_LONGEST:
        return {"A": "A", "B": "B"}
    return {"A": a, "B": b}


def sentences(comparison: MachineComparison) -> list[str]:
    """Sentences by pattern and number of ranks, and where the order changes with the ranks."""
    return [text for text, _ in described(comparison)]


def described(comparison: MachineComparison) -> Iterator[tuple[str, RatioCurve | None]]:
    """Each sentence with the curve that it is about; None where the order changes with ranks."""
    names = labels(comparison)
    for pattern in comparison.patterns:
        subject = title(pattern)
        curves = pattern.curves
        for curve in curves if len(curves) < 3 else (curves[0], curves[-1]):
            words = _curve(pattern, curve, names)
            yield f"{subject} of {ranks_text(curve.ranks)}: {words}.", curve
        for rank_crossings in pattern.by_ranks:
            size = f" of {format_size(rank_crossings.size_bytes)}" if pattern.sized else ""
            changes = _rank_changes(rank_crossings.crossings, names)
            yield f"{subject}{size}: {changes}.", None


def title(pattern: PatternRatio) -> str:
    """A pattern with its algorithm and axes, if any."""
    name = pattern.a.pattern
    if pattern.a.algorithm not in ("", "native"):
        name += f"/{pattern.a.algorithm}"
    return ", ".join(filter(None, [name, pattern.a.axes]))


def factor(place: ComparedSize) -> float:
    """The ratio of the slower to the faster time, 1 or more; 1 where there is none."""
    return max(place.ratio, 1 / place.ratio) if 0 < place.ratio < math.inf else 1.0


def times(value: float) -> str:
    """'1.03 times', '2.2 times' or '13 times'."""
    return f"{format_number(value, 3 if value < 1.1 or value >= 100 else 2)} times"


def _curve(pattern: PatternRatio, curve: RatioCurve, names: dict[str, str]) -> str:
    """'B is 2.2 times faster for short messages; from 3.1 KiB on A is faster, up to 1.4 times'."""
    parts = _regimes(curve)
    first = parts[0]
    who = faster(first[0].a_s, first[0].b_s)
    leads = next((w for place in first if (w := faster(place.a_s, place.b_s))), "")
    if not leads:
        return "both are equally fast"
    if len(parts) == 1:
        return _one_order(first, names[leads], pattern.sized)
    start = factor(first[0])
    words = f"{names[leads]} is {times(start)} faster for short messages"
    if who != leads or start < SAME:
        words = f"{names[leads]} is up to {times(max(map(factor, first)))} faster at first"
    for crossing, part in zip(curve.crossings, parts[1:], strict=True):
        most = max(map(factor, part), default=1.0)
        by = f", up to {times(most)}" if most >= SAME else ""
        words += f"; from {format_size(crossing.at)} on {names[crossing.faster]} is faster{by}"
    return words


def _one_order(places: Sequence[ComparedSize], name: str, sized: bool) -> str:
    """One machine is the faster one throughout."""
    first, last = factor(places[0]), factor(places[-1])
    if not sized:
        return f"{name} is {times(first)} faster"
    if max(first, last) < ALIKE * min(first, last):
        return f"{name} is {times((first * last) ** 0.5)} faster at all sizes"
    return f"{name} is {times(first)} faster for short messages, {times(last)} for the longest"


def _regimes(curve: RatioCurve) -> list[list[ComparedSize]]:
    """The intervals before, between and after the crossings."""
    edges = [0, *(crossing.at for crossing in curve.crossings), 2**63]
    return [
        [place for place in curve.places if low <= place.size_bytes < high]
        for low, high in itertools.pairwise(edges)
    ]


def _rank_changes(crossings: Sequence[MachineCrossing], names: dict[str, str]) -> str:
    first = "B" if crossings[0].faster == "A" else "A"
    words = f"{names[first]} is faster on few ranks"
    for crossing in crossings:
        words += f", {names[crossing.faster]} from {crossing.at} on"
    return words


def likeness_sentence(likeness: Likeness, run: str) -> str:
    """'pingpong of 2 ranks: today does what csd3-hdr100's did, but for 16 to 64 KiB'."""
    subject = f"{likeness.pattern} of {ranks_text(likeness.ranks)} ({likeness.mpi or 'the run'})"
    within = f"within {percent(likeness.tolerance_share, None)}"
    did, unlike = f"what {likeness.machine}'s did {within}", _unlike(likeness.unlike)
    if likeness.undecided == likeness.compared:
        return f"{subject}: whether {run} does {did} is undecided: measure more launches"
    if likeness.unlike_count == likeness.compared:
        return f"{subject}: {run} does at no size {did}: {unlike}"
    words = f"{run} does {did}" + (f", but for {unlike}" if unlike else "")
    if likeness.undecided:
        of_all = f"{likeness.undecided} of {likeness.compared} sizes"
        words += f"; {of_all} are undecided: measure more launches"
    return f"{subject}: {words}"


def _unlike(ranges: Sequence[UnlikeSizes]) -> str:
    """'16 to 64 KiB (1.5 times as long)'."""
    return listed([f"{_size_range(sizes)} ({_as_long(sizes)})" for sizes in ranges])


def _size_range(sizes: UnlikeSizes) -> str:
    first, last = format_size(sizes.from_bytes), format_size(sizes.to_bytes)
    if first == last:
        return first
    number, unit = first.rsplit(" ", 1)
    return f"{number if last.endswith(f' {unit}') else first} to {last}"


def _as_long(sizes: UnlikeSizes) -> str:
    ends = (format_number(ratio, 3) for ratio in (sizes.least_ratio, sizes.greatest_ratio))
    return f"{' to '.join(dict.fromkeys(ends))} times as long"


WORDS = {
    "t0_s": "latency t0",
    "r_inf_Bps": "rate r∞",
    "n_half_bytes": "n½",
    "latency_s": "L",
    "send_overhead_s": "o_s",
    "recv_overhead_s": "o_r",
    "gap_s": "g",
    "gap_per_byte_s": "G, 1 MB",
}
"""The usual names of the parameters of one message."""


def value_text(parameter: MachineParameter, value: float | None) -> str:
    """A parameter's value with its unit."""
    if value is None:
        return "–"
    if parameter.name.endswith("_Bps"):
        return format_rate(value)
    if parameter.name.endswith("_bytes"):
        return format_size(round(value))
    return format_time(value * 1e6 if parameter.name == "gap_per_byte_s" else value)


def rows_of(comparison: MachineComparison) -> list[list[str]]:
    """Pattern, place, ranks, size, both times, ratio, and the faster one: a few sizes each."""
    names, rows = labels(comparison), []
    for pattern in comparison.patterns:
        head = [title(pattern), _where(pattern)]
        for curve in pattern.curves:
            ranks = str(curve.ranks)
            sizes = shown_sizes([place.size_bytes for place in curve.places])
            for place in (candidate for candidate in curve.places if candidate.size_bytes in sizes):
                who = faster(place.a_s, place.b_s)
                comparison_text = f"{names[who]}, {times(factor(place))}" if who else "neither"
                size = format_size(place.size_bytes) if pattern.sized else ""
                time_texts = [format_time(place.a_s), format_time(place.b_s)]
                rows.append(
                    [*head, ranks, size, *time_texts, format_number(place.ratio), comparison_text]
                )
                head, ranks = ["", ""], ""
    return rows


def _where(pattern: PatternRatio) -> str:
    """The placement of the ranks, of both machines if it differs; '–' if unknown."""
    a, b = pattern.a.where, pattern.b.where
    return a if a == b else f"{a or '–'} | {b or '–'}"


def titles(comparison: MachineComparison) -> list[tuple[str, bool]]:
    """The columns of `rows_of`, and whether they hold numbers."""
    names = labels(comparison)
    return [
        *(("pattern", False), ("where", False), ("ranks", True), ("size", True)),
        *((names["A"], True), (names["B"], True), ("B / A", True), ("faster", False)),
    ]


def names_machine(text: str) -> bool:
    """Whether a side is a machine of record or a machine file, with or without a library."""
    from nhalf.machines import catalogue

    return catalogue.is_machine(text) or (
        ":" in text and not Path(text).exists() and catalogue.is_machine(text.rsplit(":", 1)[0])
    )


def pair_of(mpi: str, libraries: tuple[str, str]) -> tuple[str, str]:
    """Choose the libraries of A and B from --mpi X or X,Y, or as named with the sides."""
    if not mpi:
        return libraries
    names = [name.strip() for name in mpi.split(",")]
    if len(names) > 2 or not all(names):
        raise InputError(f"--mpi {mpi!r} is not one or two names", "write --mpi openmpi,mpich")
    if any(libraries):
        raise InputError("a library is given twice", "use MACHINE:LIBRARY or --mpi, not both")
    return names[0], names[-1]


def show(console: Console, comparison: MachineComparison) -> None:
    """Print the tables, then the sentences, then what could not be compared."""
    if labels(comparison)["A"] == "A":
        for side, machine in (("A", comparison.a), ("B", comparison.b)):
            print_lines(console, f"{side}: {machine.name}, {machine.source}".rstrip(", "))
        console.print()
    if comparison.parameters:
        console.print(_parameters(comparison))
    console.print(_patterns(comparison))
    print_lines(console, *(f"• {sentence}" for sentence in sentences(comparison)))
    names = labels(comparison)
    for side, lost in (("A", comparison.only_a), ("B", comparison.only_b)):
        if lost:
            words = f"not compared, only {names[side]} has it: {', '.join(lost)}"
            print_lines(console, words, style="dim")


def _table(title_text: str, columns: list[tuple[str, bool]]) -> Table:
    from rich.text import Text

    table = headed_table(title_text)
    for name, numeric in columns:
        table.add_column(Text(name), justify="right" if numeric else "left", no_wrap=True)
    return table


def _parameters(comparison: MachineComparison) -> Table:
    names = labels(comparison)
    columns = [("", False), (names["A"], True), (names["B"], True), ("B / A", True)]
    table = _table("One message", columns)
    for parameter in comparison.parameters:
        values = [value_text(parameter, value) for value in (parameter.a, parameter.b)]
        ratio = format_number(parameter.b / parameter.a) if parameter.a and parameter.b else MISSING
        table.add_row(WORDS[parameter.name], *values, ratio)
    return table


def _patterns(comparison: MachineComparison) -> Table:
    from rich.text import Text

    table = _table("Patterns", titles(comparison))
    for row in rows_of(comparison):
        style = "dim" if row[-1] == "neither" else ""
        table.add_row(*map(Text, row[:-1]), Text(row[-1], style=style))
    return table
