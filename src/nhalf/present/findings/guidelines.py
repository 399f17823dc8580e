"""Where a library does the work of one operation faster by others, or contradicts itself."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.facts.guidelines import Verdict, size_words, violations
from nhalf.facts.series import library_label
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, count, weight

WEIGHTS = (44, 66)
UNSURE = (30, 40)
"""Weights of what may be due to caches."""
LABELS = {
    "composition": "Slower than its parts",
    "monotony": "Slower than a longer message",
    "pieces": "Slower than in pieces",
}


class Guidelines(Finder[Facts]):
    """Where a library does the work of one operation faster by others, or contradicts itself."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        groups: dict[tuple[str, str, str, str], list[Verdict]] = {}
        for verdict in violations(facts):
            key = (verdict.run, verdict.transport, verdict.mpi, verdict.kind)
            groups.setdefault(key, []).append(verdict)
        for verdicts in groups.values():
            yield _finding(verdicts, facts)


def _finding(verdicts: list[Verdict], facts: Facts) -> Finding:
    """One sentence for a library and a kind of guideline: its largest factor."""
    worst = verdicts[0]
    label = library_label(facts, worst.transport, worst.mpi)
    operation = worst.mock_up.operation
    return Finding.of(
        worst,
        f"{label}: {_call(worst)} on {worst.ranks} ranks takes {times(worst.factor.median)} as "
        f"long as {instead(worst)} ({between(worst.factor)}).{_why(worst)}{_further(verdicts)}",
        weight(worst.factor.median, *(WEIGHTS if not worst.may_be_cache else UNSURE)),
        f"guideline-{worst.kind}",
        LABELS[worst.kind],
        remedy=_remedy(worst),
        interval=worst.factor,
        pattern=operation,
    )


def _call(verdict: Verdict) -> str:
    """'one 1 MiB per pair alltoall', or 'barrier' without a size."""
    operation = verdict.mock_up.operation
    if not verdict.size_bytes:
        return operation
    return f"{operation} of {format_size(verdict.size_bytes)}{size_words(operation)}"


def _why(verdict: Verdict) -> str:
    """That the comparison may be one of caches."""
    if not verdict.may_be_cache:
        return ""
    return (
        " This may be the cache: the shorter operation was repeated on the same buffers, which "
        "stay in it."
    )


def _further(verdicts: list[Verdict]) -> str:
    """The other points, the worst of each operation by name."""
    worst_by_operation: dict[str, Verdict] = {}
    for verdict in verdicts[1:]:
        worst_by_operation.setdefault(verdict.mock_up.operation, verdict)
    if not worst_by_operation:
        return ""
    calls = [
        f"{_call(verdict)} on {verdict.ranks} ranks ({times(verdict.factor.median)})"
        for verdict in worst_by_operation.values()
    ]
    further = len(verdicts) - 1 - len(calls)
    more = f" and {count(further, 'other point')}" if further else ""
    return f" Also {', '.join(calls)}{more}."


def _remedy(verdict: Verdict) -> str:
    """What the library's user can do; only libraries of MPI can be tuned."""
    if verdict.may_be_cache:
        return "Measure with buffers of the program's size before changing it."
    tune = "nhalf tune --violated RUN tries what may be faster there, or "
    return f"{tune if verdict.transport == 'mpi' else ''}call {plan(verdict)}"


def instead(verdict: Verdict) -> str:
    """The mock-up with its sizes: 'reduce of 8 B and bcast of 8 B, which do the same'."""
    sizes = [format_size(size) for size in verdict.sizes_bytes]
    if verdict.kind == "monotony":
        return f"one of {sizes[0]}"
    if verdict.kind == "pieces":
        return f"{verdict.mock_up.parts[0].calls} of {sizes[0]}"
    parts = zip(verdict.mock_up.parts, sizes, strict=True)
    words = " and ".join(f"{part.pattern} of {size}" for part, size in parts)
    return f"{words}, which {'do' if len(sizes) > 1 else 'does'} its work"


def plan(verdict: Verdict) -> str:
    """What a program can do: 'reduce and bcast instead'."""
    if verdict.kind == "monotony":
        return f"it with {format_size(verdict.sizes_bytes[0])}"
    if verdict.kind == "pieces":
        return (
            f"it {verdict.mock_up.parts[0].calls} times with {format_size(verdict.sizes_bytes[0])}"
        )
    return " and ".join(part.pattern for part in verdict.mock_up.parts)
