"""Violated performance guidelines on a terminal: a line for each, at its worst point."""

from __future__ import annotations

from nhalf.base.carrier import carrier
from nhalf.base.numbers import fixed, span, times
from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.facts.guidelines import Verdict, guidelines, worst_by_guideline
from nhalf.present.terminal.output import stdout_console
from nhalf.present.terminal.tables import show_table


def show_guidelines(facts: Facts) -> None:
    """Print the violated guidelines; nothing if there is none."""
    worst = worst_by_guideline(facts)
    if not worst:
        return
    stdout_console().print(
        f"\nperformance guidelines: {sum(number for _, number in worst)} of "
        f"{len(guidelines(facts))} tests are violated, most at",
        markup=False,
    )
    heads = ["library", "operation", "ranks", "size", "is slower than", "ratio", "95 %", "points"]
    show_table(heads, [[*_cells(verdict, facts), str(number)] for verdict, number in worst])


def _cells(verdict: Verdict, facts: Facts) -> list[str]:
    key = str(carrier(verdict.mpi, verdict.transport))
    factor = verdict.factor
    return [
        facts.titles.get(key, key),
        verdict.mock_up.operation,
        str(verdict.ranks),
        format_size(verdict.size_bytes) if verdict.size_bytes else "",
        _mock_up(verdict),
        fixed(factor.median, 2),
        span(factor.low, factor.high, times),
    ]


def _mock_up(verdict: Verdict) -> str:
    parts = zip(verdict.mock_up.parts, verdict.sizes_bytes, strict=True)
    return " + ".join(
        f"{f'{part.calls} x ' if part.calls > 1 else ''}{part.pattern} {format_size(size)}"
        for part, size in parts
    )
