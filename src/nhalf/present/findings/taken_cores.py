# SPDX-License-Identifier: Apache-2.0
"""Others had the cores of the ranks."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.facts.facts import Facts
from nhalf.facts.taken_cores import taken_share
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import percent


class TakenCores(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        share = taken_share(facts)
        if not share:
            return
        yield Finding(
            f"Others had the cores of the ranks: beside {percent(share)} of the measurements a "
            "flag between two cores was not answered in time, so the state of the "
            "machine is not known there.",
            importance=36,
            kind="taken-cores",
            remedy="Leave the machine to itself while it is measured; nhalf doctor shows its load.",
            value=share,
            figure=percent(share),
        )
