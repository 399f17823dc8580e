"""The parameters of two machines side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.carrier import carrier
from nhalf.machines.machine import LogGP, Machine
from nhalf.machines.timings import PatternTiming

PINGPONG = "pingpong"


@dataclass(frozen=True)
class MachineParameter:
    """One number of both machines, None if it is unknown; `name` ends with its unit."""

    name: str
    a: float | None
    b: float | None


def parameters_of(
    a: Machine,
    b: Machine,
    timed: Sequence[tuple[PatternTiming, PatternTiming]],
    mpi: tuple[str, str],
) -> tuple[MachineParameter, ...]:
    """The parameters of one message, then those of the LogP family, if a machine has them."""
    message = [
        (_message(a_timing), _message(b_timing))
        for a_timing, b_timing in timed
        if a_timing.pattern == PINGPONG
    ]
    a_values, b_values = message[0] if message else ({}, {})
    a_values |= _loggp(a, mpi[0])
    b_values |= _loggp(b, mpi[1])
    names = dict.fromkeys([*a_values, *b_values])
    return tuple(MachineParameter(name, a_values.get(name), b_values.get(name)) for name in names)


def _message(timing: PatternTiming) -> dict[str, float]:
    """Start-up time of the smallest message, rate of the longest ones and n_half."""
    if not timing.curves:
        return {}
    first, last = timing.curves[0].segments[0], timing.curves[0].segments[-1]
    values = {"t0_s": first.time_s(first.from_bytes), "r_inf_Bps": last.r_inf_Bps}
    values["n_half_bytes"] = values["t0_s"] * last.r_inf_Bps
    return {name: value for name, value in values.items() if math.isfinite(value)}


def _loggp(machine: Machine, mpi: str) -> dict[str, float]:
    names = ("latency_s", "send_overhead_s", "recv_overhead_s", "gap_s", "gap_per_byte_s")
    matching: list[LogGP] = [
        loggp for loggp in machine.loggp if not mpi or carrier(loggp.mpi, loggp.transport) == mpi
    ]
    if not matching:
        return {}
    values = {name: getattr(matching[0], name) for name in names}
    return {name: value for name, value in values.items() if value is not None}
