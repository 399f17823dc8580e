# SPDX-License-Identifier: Apache-2.0
"""Phases in which the program sends at different rates."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import format_number, percent
from nhalf.base.units import format_time
from nhalf.facts.program.program import Program
from nhalf.facts.program.rate import rate_phases
from nhalf.present.findings import Finder, Finding


class Phases(Finder[Program]):
    def find(self, program: Program) -> Iterator[Finding]:
        if not program.is_timed:
            return
        rows = rate_phases(program)
        if len(rows) < 2:
            return
        busiest = max(rows, key=lambda row: row["messages_per_s"])
        total = sum(row["messages"] for row in rows)
        yield Finding(
            f"The rate of messages has {len(rows)} phases; in the busiest, from "
            f"{format_time(busiest['start_s'])} to {format_time(busiest['end_s'])}, "
            f"{percent(busiest['messages'] / total)} of all messages and collective calls are "
            f"issued ({format_number(busiest['messages_per_s'])} per second).",
            importance=45,
            kind="phases",
            value=len(rows),
            label="Phases",
        )
