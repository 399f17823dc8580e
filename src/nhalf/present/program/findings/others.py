# SPDX-License-Identifier: Apache-2.0
"""Ranks that others kept from their processors."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent
from nhalf.decide.program.basis import traced_run
from nhalf.facts.program.disturbance import most_taken_share
from nhalf.facts.program.program import Program
from nhalf.present.findings import Finder, Finding
from nhalf.present.program.others import others_lines


class Others(Finder[Program]):
    """What follows is of another run than the one that was seen, or of a disturbed one."""

    def find(self, program: Program) -> Iterator[Finding]:
        lines = list(others_lines(program))
        share = most_taken_share(traced_run(program))
        if lines:
            yield Finding(
                " ".join(lines),
                importance=99,
                kind="others",
                value=share,
                label="Off its core",
                figure=percent(share),
            )
