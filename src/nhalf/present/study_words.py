"""A repeated study in words: numbers with their ranks, limits, intervals, counts of verdicts."""

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence

from nhalf.base.numbers import MISSING, format_number, percent, says_nothing, span
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.studies.judge import FAILS, HOLDS, READ_BACK, UNTESTED, ConclusionJudgement, Verdict
from nhalf.studies.repeat import StudyTable, TableCell
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
