"""A repeated study in words and on a terminal: its tables, then a row for each conclusion."""

import math
import textwrap
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

from rich.console import Console
from rich.markup import escape

from nhalf.base.numbers import MISSING, format_number, percent, says_nothing, span
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.present.terminal.output import FORM, stdout_console
from nhalf.present.terminal.tables import house_table, print_table, show_table
from nhalf.studies.form import StudyForm
from nhalf.studies.judge import FAILS, HOLDS, READ_BACK, UNTESTED, ConclusionJudgement, Verdict
from nhalf.studies.repeat import Repetition, StudyTable, TableCell
from nhalf.studies.value import StudyValue, Unit

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
MARKS = {HOLDS: "✓", READ_BACK: "=", FAILS: "✗", UNTESTED: "?"}
DOCUMENT, OWN = "Conclusions of the document", "nhalf's own, of the document's numbers"
SIGNS = {"at least": "≥", "at most": "≤", "about": "≈"}


def table_rows(table: StudyTable) -> list[Line]:
    """The rows of a table as text, the first cell of each its name."""
    unbeaten = table.unbeaten or (False,) * len(table.rows)
    return [
        (f"{name} {UNBEATEN}" if is_unbeaten else name, *map(_cell, cells))
        for (name, cells), is_unbeaten in zip(table.rows, unbeaten, strict=True)
    ]


def _cell(cell: TableCell) -> str:
    return _on_ranks(cell.value, cell.unit, cell.ranks)


def _on_ranks(value: StudyValue | None, unit: Unit, ranks: int) -> str:
    """A number, with its ranks where others were asked for."""
    if value is None:
        return MISSING
    words = "" if value.ranks == ranks else f" on {value.ranks}"
    return number_text(value.median, unit) + words


def number_text(value: float | None, unit: Unit) -> str:
    """A number with its unit; a dash if there is none."""
    return MISSING if value is None or not math.isfinite(value) else FORMS[unit](value)


def value_text(judgement: ConclusionJudgement) -> str:
    """The number that was tested."""
    conclusion = judgement.conclusion
    return _on_ranks(judgement.value, conclusion.unit, conclusion.value.ranks)


def published_text(judgement: ConclusionJudgement) -> str:
    """The published number."""
    return number_text(judgement.published, judgement.conclusion.unit)


def limit_text(judgement: ConclusionJudgement) -> str:
    """The limit of a conclusion, with its relation."""
    conclusion = judgement.conclusion
    return f"{SIGNS[conclusion.relation]} {number_text(judgement.limit, conclusion.unit)}"


def interval_text(judgement: ConclusionJudgement) -> str:
    """The interval; of one that is very wide the end that decides."""
    ci = judgement.value.ci if judgement.value else None
    if ci is None:
        return MISSING
    form, (low, high) = FORMS[judgement.conclusion.unit], ci
    if judgement.verdict == UNTESTED or judgement.limit is None or not says_nothing(low, high):
        return span(low, high, form)
    return f"below {form(high)}" if high <= judgement.limit else f"above {form(low)}"


def claim_text(judgement: ConclusionJudgement) -> str:
    """The words of a conclusion, without their stop, the machines it is drawn on, and its place."""
    conclusion = judgement.conclusion
    origin = "; ".join(filter(None, [", ".join(conclusion.drawn_on), conclusion.place]))
    return f"{conclusion.claim.removesuffix('.')} [{origin}]".removesuffix(" []")


def evidence_text(judgement: ConclusionJudgement) -> str:
    """What a verdict rests on."""
    return judgement.value.origin if judgement.value else MISSING


def in_parts(judgements: Iterable[ConclusionJudgement]) -> dict[str, list[ConclusionJudgement]]:
    """Conclusions by who draws them: those of the document, then nhalf's own; none is empty."""
    parts: dict[str, list[ConclusionJudgement]] = {DOCUMENT: [], OWN: []}
    for judgement in judgements:
        parts[OWN if judgement.conclusion.is_own else DOCUMENT].append(judgement)
    return {name: rows for name, rows in parts.items() if rows}


def counts_text(judgements: Sequence[ConclusionJudgement]) -> str:
    """How many conclusions have which verdict, and by what those are decided.

    '3 hold (2 measured, 1 predicted), 0 do not hold, 4 read back, 2 cannot be tested'.
    """
    counts = Counter(judgement.verdict for judgement in judgements)
    return (
        f"{counts[HOLDS]} hold{'s' if counts[HOLDS] == 1 else ''}{_decided(judgements, HOLDS)}, "
        f"{counts[FAILS]} do{'es' if counts[FAILS] == 1 else ''} not hold"
        f"{_decided(judgements, FAILS)}, "
        f"{counts[READ_BACK]} read back, {counts[UNTESTED]} cannot be tested"
    )


def _decided(judgements: Sequence[ConclusionJudgement], verdict: Verdict) -> str:
    """By what a verdict is reached how often."""
    origins = Counter(evidence_text(j) for j in judgements if j.verdict == verdict)
    words = ", ".join(f"{count} {origin}" for origin, count in sorted(origins.items()))
    return f" ({words})" if words else ""


def mark_text(judgement: ConclusionJudgement, machine: str) -> str:
    """A mark for a verdict, in brackets on machines that the conclusion is not drawn on."""
    mark = MARKS[judgement.verdict]
    return mark if machine in judgement.conclusion.drawn_on else f"({mark})"


def marks_how(title: str) -> str:
    """How to read a table of marks."""
    return (
        f"{title} {MARKS[HOLDS]} holds, {MARKS[FAILS]} does not hold, {MARKS[READ_BACK]} read "
        f"back, {MARKS[UNTESTED]} not tested; in brackets on machines that it is not drawn on."
    )


HEAD = ("verdict", "evidence", "number", "95 % interval", "limit", "published", "conclusion")
WORDS_LEAST = 48
"""Where a table leaves fewer characters for the words of conclusions, these have own lines."""
INDENT = 2
BETWEEN = 3
"""Characters between two columns."""


def show_studies(forms: Mapping[str, StudyForm]) -> None:
    """Print a line for each study that can be repeated."""
    rows = [(name, str(len(form.conclusion)), form.title) for name, form in forms.items()]
    show_table(("study", "conclusions", "question"), rows)


def show_repetition(repetition: Repetition) -> None:
    """Print the tables, ours beside the published ones, and the verdicts."""
    console = stdout_console()
    title = f"{repetition.study} on {repetition.machine}: {repetition.form.title}"
    console.print(title, markup=False)
    console.print(repetition.form.source, markup=False, style="dim", soft_wrap=True)
    for table in repetition.tables:
        console.print(f"\n{table.title}", markup=False, soft_wrap=True)
        for head, rows in _parts(table.head, table_rows(table), console.width):
            show_table(head, rows)
        if table.unbeaten:
            console.print(
                f"{UNBEATEN} no other option is better in both",
                markup=False,
                style="dim",
            )
    for part, judgements in in_parts(repetition.conclusions).items():
        console.print(f"\n{part}")
        _show_conclusions(judgements, console)
        words = f"{counts_text(judgements)} on {repetition.machine}"
        console.print(words, markup=False, soft_wrap=True)
    words = (
        "in brackets: the machines that it is drawn on, and where the document says it; read back: "
        "the published number itself, which shows nothing"
    )
    console.print(words, markup=False, style="dim", soft_wrap=True)


def _show_conclusions(judgements: Sequence[ConclusionJudgement], console: Console) -> None:
    """Print a table, or where it leaves little room for words, a few lines for each conclusion."""
    rows = [_row(judgement) for judgement in judgements]
    widths = [max(map(len, cells)) for cells in zip(HEAD, *rows, strict=True)]
    room = console.width - sum(width + BETWEEN for width in widths[:-1]) - BETWEEN
    if room < WORDS_LEAST and FORM.get() == "table":
        for row in rows:
            _show_lines(row, console)
        return
    table = house_table(*HEAD)
    for row in rows:
        table.add_row(*map(escape, row))
    print_table(table, console)


def _show_lines(row: Line, console: Console) -> None:
    """Print a conclusion as its verdict, words and numbers, no line wider than the terminal."""
    verdict, evidence, number, interval, limit, published, words = row
    console.print(verdict, style="bold")
    numbers = {"limit": limit, "95 % interval": interval, "published": published}
    parts = [f"{name} {text}" for name, text in numbers.items() if text != MISSING]
    measured = [] if number == MISSING else [f"{evidence} {number}".removeprefix(f"{verdict} ")]
    for text in (words, ", ".join([*measured, *parts])):
        for line in textwrap.wrap(text, max(20, console.width - INDENT)):
            console.print(" " * INDENT + line, markup=False, highlight=False)


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


def _row(judgement: ConclusionJudgement) -> Line:
    """The verdict on a conclusion, its numbers, its words, and why it cannot be tested."""
    reason = f" ({judgement.reason})" if judgement.reason else ""
    return (
        judgement.verdict,
        evidence_text(judgement),
        value_text(judgement),
        interval_text(judgement),
        limit_text(judgement),
        published_text(judgement),
        f"{claim_text(judgement)}{reason}",
    )
