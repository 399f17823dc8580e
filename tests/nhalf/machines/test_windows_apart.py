"""A machine does not mix up the ping-pongs of a library's messages and of its windows."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.machines.machine import FittedModel, Machine, Segment
from nhalf.machines.message import Messages
from nhalf.machines.timings import libraries, timings


def machine() -> Machine:
    """A microsecond by messages, two by windows."""
    found = []
    for transport, startup_s in (("mpi", 1e-6), ("rma", 2e-6)):
        segment = Segment(from_bytes=0, to_bytes=1 << 20, t0_s=startup_s, r_inf_Bps=1e9)
        found.append(
            FittedModel(
                transport=transport, mpi="mpich-5", pattern="pingpong", ranks=2, segments=(segment,)
            )
        )
    return Machine(name="node", models=tuple(found))


def test_they_are_two_libraries_to_choose_from() -> None:
    assert libraries(machine()) == ["mpich-5", "mpich-5 rma"]
    assert Messages(machine(), "mpich-5 rma").curve.time_s(0) == 2e-6
    assert len(timings(machine(), "mpich-5")) == 1
    with pytest.raises(InputError, match="several libraries"):
        _ = Messages(machine()).curve
