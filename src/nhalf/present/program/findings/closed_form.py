# SPDX-License-Identifier: Apache-2.0
"""A kernel of the NAS Parallel Benchmarks: whether it sent what its closed form has."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import whole
from nhalf.base.units import format_size
from nhalf.facts.program.npb import ClosedForm, beside_closed_form
from nhalf.facts.program.program import Program
from nhalf.present.findings import Finder, Finding


class AsInClosedForm(Finder[Program]):
    def find(self, program: Program) -> Iterator[Finding]:
        comparison = beside_closed_form(program)
        if comparison is None:
            return
        runs = "1 run" if comparison.runs == 1 else f"{comparison.runs} runs"
        head = f"{comparison.kernel} on {comparison.ranks} ranks, {runs}"
        yield Finding(
            f"{head}: {_words(comparison)}",
            importance=70 if comparison.is_equal else 95,
            kind="closed-form",
            value=float(comparison.different),
            label="Closed form",
            figure="equal" if comparison.is_equal else f"{comparison.different} differ",
        )


def _words(comparison: ClosedForm) -> str:
    traced = _count(comparison.messages, comparison.bytes)
    if comparison.is_equal:
        collectives = f" and {whole(comparison.collectives)} calls of collective operations"
        own = collectives if comparison.collectives else ""
        return f"{traced}{own} were traced, exactly those of the closed form."
    expected = _count(comparison.expected_messages, comparison.expected_bytes)
    return (
        f"{traced} were traced and {expected} are those of the closed form; "
        f"{whole(comparison.different)} calls of a rank with one partner and size differ."
    )


def _count(messages: int, size_bytes: int) -> str:
    return f"{whole(messages)} messages of {format_size(size_bytes)} in all"
