# SPDX-License-Identifier: Apache-2.0
"""A repeated study in the terminal: its tables, then a row for each of its conclusions."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence

from nhalf.base.numbers import MISSING, format_number, percent, says_nothing, span
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.decide.studies.form import StudyForm
from nhalf.decide.studies.judge import FAILS, HOLDS, UNTESTED, Judgement
from nhalf.decide.studies.repeat import Cell, Repetition, Table
from nhalf.decide.studies.unit import Unit
from nhalf.decide.studies.value import Value
from nhalf.present.terminal.output import stdout_console
from nhalf.present.terminal.tables import BETWEEN, show_table

FORMS: dict[Unit, Callable[[float], str]] = {
    "s": format_time,
    "Bps": format_rate,
    "bytes": format_size,
    "ratio": format_number,
    "s/B": lambda number: f"{format_time(number)}/B",
    "share": lambda share: percent(share, 1),
    "cycles": format_number,
    "flop/s": lambda number: f"{format_number(number / 1e6)} MFLOPS",
}
Line = tuple[str, ...]
UNBEATEN = "*"
"""The mark of an option that no other beats in both time and cost."""
SIGNS = {"at least": "≥", "at most": "≤", "about": "≈"}


def show_studies(forms: Mapping[str, StudyForm]) -> None:
    """Print a line for each study that can be repeated."""
    rows = [(name, str(len(form.conclusion)), form.title) for name, form in forms.items()]
    show_table(("study", "conclusions", "question"), rows)


def show_repetition(repetition: Repetition) -> None:
    """Print the tables, ours beside the published ones, and the verdicts."""
    console = stdout_console()
    console.print(f"{repetition.study} on {repetition.machine}: {repetition.form.title}")
    console.print(repetition.form.source, markup=False, style="dim", soft_wrap=True)
    for table in repetition.tables:
        console.print(f"\n{table.title}", markup=False, soft_wrap=True)
        for head, rows in _parts(table.head, _rows(table), console.width):
            show_table(head, rows)
        if table.unbeaten:
            console.print(
                f"{UNBEATEN} no other option is better in both", markup=False, style="dim"
            )
    console.print("\nConclusions")
    head = ("verdict", "number", "95 % interval", "limit", "published", "conclusion")
    show_table(head, [_row(judgement) for judgement in repetition.conclusions])
    console.print(_count(repetition))
    words = "in brackets: the machines of which the study says it"
    console.print(words, markup=False, style="dim", soft_wrap=True)


def _parts(head: Line, rows: Sequence[Line], width: int) -> Iterator[tuple[Line, list[Line]]]:
    """Cut a table into parts that fit the width, each with the first column."""
    lines = [head, *rows]
    widths = [BETWEEN + max(map(len, cells)) for cells in zip(*lines, strict=True)]
    first, used = 1, widths[0]
    for place in range(1, len(head)):
        if place > first and used + widths[place] > width:
            yield head[:1] + head[first:place], [row[:1] + row[first:place] for row in rows]
            first, used = place, widths[0]
        used += widths[place]
    yield head[:1] + head[first:], [row[:1] + row[first:] for row in rows]


def _rows(table: Table) -> list[Line]:
    unbeaten = table.unbeaten or (False,) * len(table.rows)
    return [
        (f"{name} {UNBEATEN}" if is_unbeaten else name, *map(_cell, cells))
        for (name, cells), is_unbeaten in zip(table.rows, unbeaten, strict=True)
    ]


def _cell(cell: Cell) -> str:
    return _on_ranks(cell.value, cell.unit, cell.ranks)


def _on_ranks(value: Value | None, unit: Unit, ranks: int) -> str:
    """A number, with its ranks where others were asked for."""
    if value is None:
        return MISSING
    words = "" if value.ranks == ranks else f" on {value.ranks}"
    return _number(value.median, unit) + words


def _number(value: float | None, unit: Unit) -> str:
    return MISSING if value is None or not math.isfinite(value) else FORMS[unit](value)


def _row(judgement: Judgement) -> tuple[str, ...]:
    """The verdict on a conclusion, its numbers, its words, and why it cannot be tested."""
    conclusion, value, unit = judgement.conclusion, judgement.value, judgement.conclusion.unit
    reason = f" ({judgement.reason})" if judgement.reason else ""
    limit = _number(judgement.limit, unit)
    return (
        judgement.verdict,
        _on_ranks(value, unit, conclusion.value.ranks),
        interval_text(judgement),
        f"{SIGNS[conclusion.relation]} {limit}",
        _number(judgement.published, unit),
        f"{conclusion.claim.removesuffix('.')} [{', '.join(conclusion.drawn_on)}]{reason}",
    )


def interval_text(judgement: Judgement) -> str:
    """The interval; of one that is very wide the end that decides."""
    ci = judgement.value.ci if judgement.value else None
    if ci is None:
        return MISSING
    form, (low, high) = FORMS[judgement.conclusion.unit], ci
    if judgement.verdict == UNTESTED or judgement.limit is None or not says_nothing(low, high):
        return span(low, high, form)
    return f"below {form(high)}" if high <= judgement.limit else f"above {form(low)}"


def _count(repetition: Repetition) -> str:
    """How many conclusions have which verdict, and where their numbers come from."""
    counts = Counter(judgement.verdict for judgement in repetition.conclusions)
    origins = Counter(
        judgement.value.origin for judgement in repetition.conclusions if judgement.value
    )
    numbers = ", ".join(f"{count} {origin}" for origin, count in sorted(origins.items()))
    words = (
        f"{counts[HOLDS]} hold, {counts[FAILS]} do not hold, {counts[UNTESTED]} cannot be tested "
        f"on {repetition.machine}"
    )
    return f"{words}; their numbers: {numbers}" if numbers else words
