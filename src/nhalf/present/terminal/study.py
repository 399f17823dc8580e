"""A repeated study in the terminal: its tables, then a row for each of its conclusions."""

import textwrap
from collections.abc import Iterator, Mapping, Sequence

from rich.console import Console
from rich.markup import escape

from nhalf.base.numbers import MISSING
from nhalf.present import study_words
from nhalf.present.terminal.output import FORM, stdout_console
from nhalf.present.terminal.tables import house_table, print_table, show_table
from nhalf.studies.form import StudyForm
from nhalf.studies.judge import ConclusionJudgement
from nhalf.studies.repeat import Repetition

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
        for head, rows in _parts(table.head, study_words.table_rows(table), console.width):
            show_table(head, rows)
        if table.unbeaten:
            console.print(
                f"{study_words.UNBEATEN} no other option is better in both",
                markup=False,
                style="dim",
            )
    for part, judgements in study_words.in_parts(repetition.conclusions).items():
        console.print(f"\n{part}")
        _show_conclusions(judgements, console)
        words = f"{study_words.counts_text(judgements)} on {repetition.machine}"
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


def _show_lines(row: study_words.Line, console: Console) -> None:
    """Print a conclusion as its verdict, words and numbers, no line wider than the terminal."""
    verdict, evidence, number, interval, limit, published, words = row
    console.print(verdict, style="bold")
    numbers = {"limit": limit, "95 % interval": interval, "published": published}
    parts = [f"{name} {text}" for name, text in numbers.items() if text != MISSING]
    measured = [] if number == MISSING else [f"{evidence} {number}".removeprefix(f"{verdict} ")]
    for text in (words, ", ".join([*measured, *parts])):
        for line in textwrap.wrap(text, max(20, console.width - INDENT)):
            console.print(" " * INDENT + line, markup=False, highlight=False)


def _parts(
    head: study_words.Line, rows: Sequence[study_words.Line], width: int
) -> Iterator[tuple[study_words.Line, list[study_words.Line]]]:
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


def _row(judgement: ConclusionJudgement) -> study_words.Line:
    """The verdict on a conclusion, its numbers, its words, and why it cannot be tested."""
    reason = f" ({judgement.reason})" if judgement.reason else ""
    return (
        judgement.verdict,
        study_words.evidence_text(judgement),
        study_words.value_text(judgement),
        study_words.interval_text(judgement),
        study_words.limit_text(judgement),
        study_words.published_text(judgement),
        f"{study_words.claim_text(judgement)}{reason}",
    )
