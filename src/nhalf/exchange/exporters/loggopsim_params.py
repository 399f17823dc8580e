"""LogGOPSim's command line: L, o, g, G, O and S of a machine, as integers.

LogGOPSim takes integers. A network of more than 1 GB/s has G < 1 ns per byte, which would be
rounded to 0 or 1; so if nanoseconds are too coarse for G, the unit of all times becomes a tenth, a
hundredth, ... of one, until G has DIGITS_MIN. The times that the simulator prints, and those of
`calc` in a schedule, are in that unit.

A message takes o + L + (n - 1) G + o there (T. Hoefler et al., HPDC 2010).
"""

import math
from dataclasses import dataclass

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError
from nhalf.exchange.exporters import Exporter, Subject, the_machine
from nhalf.machines.changed_curves import overhead_s
from nhalf.machines.curve import OVERHEAD_SHARE, is_between_nodes, threshold_bytes
from nhalf.machines.machine import FittedModel, LogGP, Machine
from nhalf.machines.message import Messages

DIGITS_MIN = 100
"""G in units is at least this: half a unit is half a percent."""
UNITS_PER_NS_MAX = 10**6
THRESHOLD_BYTES = 65535
"""LogGOPSim's own S, used if neither a machine file nor a curve has a threshold."""
O_PER_BYTE = 0
"""LogGOPSim's O, the processor time per byte. It is not measured separately from G."""


@dataclass(frozen=True)
class Parameters:
    """Parameters in seconds, bytes and seconds per byte; `notes` name their sources."""

    latency_s: float
    overhead_s: float
    gap_s: float
    gap_per_byte_s: float
    threshold_bytes: int
    notes: tuple[str, ...]


class LogGOPSimParams(Exporter):
    """A line of options, after comments."""

    description = "L, o, g, G, O and S as options of LogGOPSim"
    takes = frozenset({"mpi"})

    def text(self, subject: Subject) -> str:
        """The options; raises InputError if there is neither LogGP nor a ping-pong."""
        machine = the_machine(subject, "loggopsim-params")
        parameters = _parameters(machine, self.options.mpi)
        scale = _units_per_ns(parameters.gap_per_byte_s)
        unit = "1 ns" if scale == 1 else f"1/{scale} ns"
        lines = [
            f"Of {' '.join(machine.name.split())}, written by nhalf export.",
            *parameters.notes,
        ]
        lines.append(f"The unit of time is {unit}.")
        if scale > 1:
            gap_ns = parameters.gap_per_byte_s * 1e9
            lines.append(
                f"In whole nanoseconds G = {gap_ns:.4g} has too few digits: "
                f"divide the times that LogGOPSim prints by {scale}, and multiply those of calc."
            )
        options = {
            "L": _units(parameters.latency_s, scale),
            "o": _units(parameters.overhead_s, scale),
            "g": _units(parameters.gap_s, scale),
            "G": _units(parameters.gap_per_byte_s, scale),
            "O": O_PER_BYTE,
            "S": parameters.threshold_bytes,
        }
        comments = "".join(f"# {line}\n" for line in lines)
        return comments + " ".join(f"-{name} {value}" for name, value in options.items()) + "\n"


def _units_per_ns(gap_per_byte_s: float) -> int:
    """1, 10, 100, ...: until the gap of a byte has enough digits."""
    scale = 1
    while 0 < gap_per_byte_s * 1e9 * scale < DIGITS_MIN and scale < UNITS_PER_NS_MAX:
        scale *= 10
    return scale


def _units(time_s: float, scale: int) -> int:
    return max(0, round(time_s * 1e9 * scale))


def _parameters(machine: Machine, mpi: str) -> Parameters:
    loggp = _measured(machine, mpi)
    if loggp is None:
        return _of_curve(machine, Messages(machine, mpi).curve)
    curve = _curve_of(machine, loggp)
    threshold, words = (
        (THRESHOLD_BYTES, "S is LogGOPSim's own: no threshold is known.")
        if curve is None
        else threshold_bytes(machine, curve)
    )
    gap_per_byte_s = loggp.gap_per_byte_s
    if gap_per_byte_s is None:
        gap_per_byte_s = 0.0 if curve is None else _slope_s(curve)
    send_s, receive_s = loggp.send_overhead_s or 0.0, loggp.recv_overhead_s or 0.0
    busy_s = (send_s + receive_s) / 2
    latency_s = loggp.latency_s or 0.0
    notes = [f"LogGP of {carrier(loggp.mpi, loggp.transport)}, {loggp.placement or 'same-node'}."]
    if (loggp.identifiable is False or latency_s <= 0) and loggp.half_round_trip_s:
        busy_s, latency_s = _shares(loggp.half_round_trip_s)
        notes.append("L cannot be told from o here: of their sum, o is a quarter on each side.")
    gap_s = busy_s if loggp.gap_s is None else loggp.gap_s
    if loggp.gap_s is None:
        notes.append("g is unknown: o.")
    notes.append(words)
    return Parameters(latency_s, busy_s, gap_s, max(0.0, gap_per_byte_s), threshold, (*notes,))


def _measured(machine: Machine, mpi: str) -> LogGP | None:
    """LogGP of a library, between nodes if available; None if it is not measured.

    Raises InputError if there are several libraries and none is named.
    """
    complete = [
        loggp
        for loggp in machine.loggp
        if loggp.send_overhead_s is not None
        and loggp.recv_overhead_s is not None
        and (loggp.latency_s is not None or loggp.half_round_trip_s)
    ]
    if mpi:
        complete = [loggp for loggp in complete if carrier(loggp.mpi, loggp.transport) == mpi]
    libraries = sorted({carrier(loggp.mpi, loggp.transport) for loggp in complete})
    if len(libraries) > 1:
        remedy = "name one with --mpi: " + ", ".join(libraries)
        raise InputError(f"{machine.name} has the parameters of several libraries", remedy)
    between = [loggp for loggp in complete if is_between_nodes(loggp.placement)]
    return next(iter(between or complete), None)


def _curve_of(machine: Machine, loggp: LogGP) -> FittedModel | None:
    """The ping-pong of the same library; None if there is none."""
    try:
        return Messages(machine, carrier(loggp.mpi, loggp.transport)).curve
    except InputError:
        return None


def _of_curve(machine: Machine, curve: FittedModel) -> Parameters:
    """Parameters from t0 of the smallest and the slope of the largest messages."""
    t0_s = max(0.0, curve.segments[0].t0_s)
    busy_s, latency_s = _shares(t0_s)
    words_of_o = f"o and g are {OVERHEAD_SHARE:.0%} of t0 each, L is what is left: not measured."
    overheads = overhead_s(machine, curve)
    if overheads is not None and sum(overheads) <= t0_s:
        busy_s, latency_s = sum(overheads) / 2, t0_s - sum(overheads)
        words_of_o = "L is what the overheads o leave of t0; g is o."
    threshold, words = threshold_bytes(machine, curve)
    notes = (
        f"From the ping-pong of {carrier(curve.mpi, curve.transport)}, "
        f"{curve.placement or 'same-node'}.",
        words_of_o,
        words,
    )
    return Parameters(latency_s, busy_s, busy_s, _slope_s(curve), threshold, notes)


def _shares(both_s: float) -> tuple[float, float]:
    """Overhead on each side and latency that make up a start-up time."""
    busy_s = OVERHEAD_SHARE * both_s
    return busy_s, both_s - 2 * busy_s


def _slope_s(curve: FittedModel) -> float:
    """Seconds per byte of the largest messages."""
    last = curve.segments[-1]
    if last.root_s and last.to_bytes > last.from_bytes:
        span = last.to_bytes - last.from_bytes
        return max(0.0, (last.time_s(last.to_bytes) - last.time_s(last.from_bytes)) / span)
    return 1 / last.r_inf_Bps if math.isfinite(last.r_inf_Bps) else 0.0
