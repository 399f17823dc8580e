# SPDX-License-Identifier: Apache-2.0
"""Other processes used the ranks' cores at times, on a machine that is not busy throughout."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent
from nhalf.facts.certainty.busy_launches import busy_launches
from nhalf.facts.certainty.machine_states import taken_share
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding


class TakenCores(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        share = taken_share(facts)
        if not share or busy_launches(facts) is not None:
            return
        yield Finding(
            f"{percent(share)} of the measurements were disturbed by other processes on the ranks' "
            "cores; the state of the machine is unknown there.",
            importance=36,
            kind="taken-cores",
            remedy="Keep the machine idle while it is measured; nhalf doctor shows its load.",
            value=share,
            figure=percent(share),
        )
