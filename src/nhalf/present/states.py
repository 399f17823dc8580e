# SPDX-License-Identifier: Apache-2.0
"""States of the machine in words."""

from __future__ import annotations

from nhalf.base.numbers import percent
from nhalf.base.units import format_time
from nhalf.facts.machine_states import MachineStates
from nhalf.present.wording import count


def states_text(machine: MachineStates) -> str:
    """The states of a machine with their shares, and in which one values are reported."""
    shares = [f"{format_time(state.flag_s)} in {percent(state.share)}" for state in machine.states]
    text = (
        f"The machine was in {count(len(shares), 'state')} with {machine.ranks} ranks on "
        f"{machine.placement}: a flag between two cores took {', '.join(shares)} of the "
        "measurements"
    )
    if machine.changed_share > 0.005:
        text += f", and {percent(machine.changed_share)} saw a change"
    text += ". Values and intervals are for the first state"
    if machine.elsewhere:
        elsewhere = f"{machine.elsewhere} of {count(machine.points, 'point')}"
        text += (
            f", but {elsewhere} had too few launches in it and are for another: do not read steps "
            "between these and their neighbours as the library's"
        )
    return f"{text}."
