# SPDX-License-Identifier: Apache-2.0
"""States of the machine in words."""

from __future__ import annotations

from nhalf.base.units import format_time
from nhalf.facts.machine_states import MachineStates
from nhalf.present.wording import count, percent


def states_text(found: MachineStates) -> str:
    """The states of a machine with their shares, and in which one values are reported."""
    shares = [f"{format_time(one.flag_s)} in {percent(one.share)}" for one in found.states]
    text = (
        f"The machine was in {count(len(shares), 'state')} with {found.ranks} ranks on "
        f"{found.placement}: a flag between two cores took {', '.join(shares)} of the measurements"
    )
    if found.changed_share > 0.005:
        text += f", and {percent(found.changed_share)} saw a change"
    text += ". Values and intervals are for the first state"
    if found.elsewhere:
        elsewhere = f"{found.elsewhere} of {count(found.points, 'point')}"
        text += f", except for {elsewhere} with too few launches in it"
    return f"{text}."
