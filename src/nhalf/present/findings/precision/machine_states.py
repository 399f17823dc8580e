# SPDX-License-Identifier: Apache-2.0
"""The states of the machine, if there were several."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.facts.certainty.machine_states import machine_states
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.states import states_text


class MachineStatesSeen(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for machine in machine_states(facts):
            yield Finding(
                states_text(machine),
                importance=37 + 2 * (1 - machine.states[0].share),
                kind="machine-states",
                remedy="A longer --budget, or --resume RUN --budget, adds launches at other times.",
                value=len(machine.states),
            )
