"""Findings on what further runs differ by from the first."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.decide.runs_compared import run_changes
from nhalf.facts.facts import Facts
from nhalf.present.changes import change_finding
from nhalf.present.findings import Finder, Finding


class RunChange(Finder[Facts]):
    """What further runs differ by from the first."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for change in run_changes(facts):
            yield change_finding(change, facts.titles)
