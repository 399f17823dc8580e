# SPDX-License-Identifier: Apache-2.0
"""Ranks that share processors."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.facts.program.program import Program
from nhalf.facts.program.shared_processors import shared_processors
from nhalf.present.findings import Finder, Finding
from nhalf.present.program.sharing import REMEDY, sharing_text


class SharedProcessorsFinder(Finder[Program]):
    """All times are then those of ranks that wait for their turn."""

    def find(self, program: Program) -> Iterator[Finding]:
        shared = shared_processors(program)
        if shared:
            yield Finding(
                sharing_text(shared),
                importance=98,
                kind="shared-processors",
                remedy=REMEDY,
                value=shared[0].threads_each,
                label="Threads on a processor" if shared[0].has_threads else "Ranks on a processor",
            )
