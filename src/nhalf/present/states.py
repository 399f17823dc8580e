"""States of the machine in words."""

from __future__ import annotations

from nhalf.base.numbers import percent
from nhalf.facts.machine_states import MachineStates
from nhalf.present.wording import count
from nhalf.statistics.advice import shares_text


def states_text(machine: MachineStates) -> str:
    """The states of a machine with their shares, and in which one values are reported."""
    flags = shares_text((state.flag_s, state.share) for state in machine.states)
    text = (
        f"The machine was in {count(len(machine.states), 'state')} with {machine.ranks} ranks on "
        f"{machine.placement}: {flags}"
    )
    if machine.changed_share > 0.005:
        text += f", and {percent(machine.changed_share)} saw a change"
    text += ". Values and intervals are for the first state"
    if machine.elsewhere:
        elsewhere = f"{machine.elsewhere} of {count(machine.points, 'point')}"
        text += (
            f", but {elsewhere} had too few launches in it and are for another: ignore steps next "
            "to them"
        )
    return f"{text}."
