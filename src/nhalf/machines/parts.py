"""The times of a machine's messages as functions of their size, from which costs are composed.

T(x), one message, is the curve of a ping-pong. M(x, q), one rank sends to q others, and R(x, q), it
receives from them, are the published or fitted patterns one-to-many and many-to-one among q + 1
ranks; if a machine has none, they are those of LogGP, q max(o, g + xG), with the known ones of o,
g and G (Alexandrov et al., LogGP, SPAA 1995).
"""

from dataclasses import dataclass

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.carrier import carrier
from nhalf.machines.curve import software_costs
from nhalf.machines.machine import FittedModel, LogGP, PatternModel
from nhalf.machines.message import Message, Messages
from nhalf.models.expression import Part
from nhalf.models.terms import TERMS

FANS = {"M": "one-to-many", "R": "many-to-one"}
HIDDEN = 1.01
"""A gap of at most this many send overheads is hidden by them in short messages."""
RISING = 0.01
"""Share of its start by which a curve rises that is not constant."""
GAP = "gap"


@dataclass(frozen=True)
class Parts:
    """The functions by name, and sentences on their sources.

    `largest_bytes` is the largest message that was measured: nothing is known beyond it. From
    `rendezvous_bytes` on a send waits for its receive. T is of `curve`; from one of `bends_bytes`
    to the next M and R are lines as well. They are known for up to `partners_max` partners; None:
    for any number. `fans` are those of M and R that were measured or published, or follow from a
    measured gap.
    """

    functions: dict[str, Part]
    sources: tuple[str, ...]
    largest_bytes: int
    rendezvous_bytes: int
    curve: FittedModel
    bends_bytes: tuple[float, ...] = ()
    fans: frozenset[str] = frozenset()
    partners_max: int | None = None


def parts_of(messages: Messages) -> Parts:
    """The parts of a machine with one of its libraries.

    Raises InputError if there is no ping-pong or not one of several libraries is named.
    """
    machine, curve, loggp = messages.machine, messages.curve, messages.loggp
    hidden_s = _hidden_gap_s(messages)
    message, overheads_s = Message(curve), software_costs(machine, curve)[:2]
    between = f" ({curve.placement})" if curve.placement else ""
    functions: dict[str, Part] = {"T": message.time_s}
    all_fans: dict[str, list[PatternModel]] = {}
    sources = [f"T: the ping-pong of {carrier(curve.mpi, curve.transport)}{between}"]
    for name, pattern in FANS.items():
        fans = [
            model
            for model in machine.patterns
            if model.pattern == pattern and model.mpi in (curve.mpi, "")
        ]
        if fans:
            functions[name] = _fan(fans)
            all_fans[name] = fans
            sources.append(f"{name}: {pattern} of {curve.mpi or machine.name}")
        else:
            busy_s = overheads_s[0 if name == "M" else 1]
            functions[name], source = _loggp_part(message, loggp, hidden_s, name == "M", busy_s)
            sources.append(f"{name}: {source}")
    rendezvous_bytes, _ = messages.rendezvous
    measured = [fan for fans in all_fans.values() for fan in fans]
    bends = {float(fan.from_bytes) for fan in measured} | set(message.start_bytes.tolist())
    bends |= _gap_crossings_bytes(message, loggp, overheads_s, hidden_s)
    return Parts(
        functions,
        tuple(sources),
        curve.segments[-1].to_bytes,
        rendezvous_bytes,
        curve,
        tuple(sorted(bends)),
        frozenset(FANS if loggp and loggp.run and loggp.gap_s is not None else all_fans),
        min((fan.to_ranks - 1 for fan in measured if fan.to_ranks), default=None),
    )


def _gap_crossings_bytes(
    message: Message, loggp: LogGP | None, overheads_s: tuple[float, float], hidden_s: float
) -> set[float]:
    """The sizes above which the gap of a message is longer than an overhead."""
    return {
        (overhead_s - gap_s) / per_byte_s
        for overhead_s in overheads_s
        for gap_s in [_gap_s(loggp, overhead_s, hidden_s)]
        for per_byte_s in message.per_byte_s
        if overhead_s > gap_s and per_byte_s > 0
    }


def _gap_s(loggp: LogGP | None, overhead_s: float, hidden_s: float) -> float:
    """The gap; `hidden_s` if the overhead of a send hides it, so that it was not measured."""
    if loggp is None or loggp.gap_s is None:
        return overhead_s
    is_hidden = loggp.send_overhead_s is not None and loggp.gap_s <= HIDDEN * loggp.send_overhead_s
    return min(hidden_s, loggp.gap_s) if is_hidden else loggp.gap_s


def _hidden_gap_s(messages: Messages) -> float:
    """The gap where the first messages show it that are so long that no overhead hides it.

    These are g + xG apart. It counts as 0 if that was not measured.
    """
    subject = ("run", "transport", "mpi", "placement")
    for model in messages.machine.models:
        is_gap = model.pattern == GAP and all(
            getattr(model, name) == getattr(messages.curve, name) for name in subject
        )
        for segment in model.segments if is_gap else ():
            if segment.to_bytes / segment.r_inf_Bps > RISING * segment.t0_s:
                return max(0.0, segment.t0_s)
    return 0.0


def _fan(models: list[PatternModel]) -> Part:
    """A published or fitted fan: its formula at q partners, by the range of sizes that holds x."""
    ordered = sorted(models, key=lambda model: model.from_bytes)
    first = np.array([model.from_bytes for model in ordered], dtype=np.float64)

    def time_s(size_bytes: Floats, partners: Floats) -> Floats:
        size_bytes, partners = np.broadcast_arrays(
            np.asarray(size_bytes, dtype=np.float64), np.asarray(partners, dtype=np.float64)
        )
        chosen = np.maximum(np.searchsorted(first, size_bytes, side="right") - 1, 0)
        result = np.zeros(size_bytes.shape)
        for i, model in enumerate(ordered):
            in_range = chosen == i
            x, q = size_bytes[in_range], partners[in_range]
            time = _sum(model.startup_s, model, q)
            time += _sum(model.per_byte_s, model, q) * x
            time += _sum(model.per_root_byte_s, model, q) * np.sqrt(x)
            if model.is_fitted:
                time = np.where(q > 0, np.maximum(time, 0.0), 0.0)
            result[in_range] = time
        return result

    return time_s


def _sum(terms: dict[str, float], model: PatternModel, partners: Floats) -> Floats:
    """A sum of terms for numbers of partners, of which there may be 0."""
    values = np.zeros(partners.shape)
    for place, q in np.ndenumerate(partners):
        counted = model.counted(int(q) + 1)
        values[place] = sum(c * _term(name, counted) for name, c in terms.items())
    return values


def _term(name: str, counted: int) -> float:
    return TERMS[name](counted) if counted > 0 or name in ("1", "p", "p-1", "p-2") else 0.0


def _loggp_part(
    message: Message, loggp: LogGP | None, hidden_s: float, sends: bool, overhead_s: float
) -> tuple[Part, str]:
    """The time of q consecutive messages of one rank by LogGP, and a sentence on its source."""
    assumed = []
    if loggp is None or (loggp.send_overhead_s if sends else loggp.recv_overhead_s) is None:
        assumed.append("o is a quarter of t0")
    gap_s = _gap_s(loggp, overhead_s, hidden_s)
    if loggp is None or loggp.gap_s is None:
        assumed.append("g is o")
    if loggp is None or loggp.gap_per_byte_s is None:
        assumed.append("G is 1/r∞")

    def time_s(size_bytes: Floats, partners: Floats) -> Floats:
        size_bytes = np.asarray(size_bytes, dtype=np.float64)
        per_byte_s = message.per_byte_s[message.segment(size_bytes)]
        spacing_s: Floats = np.maximum(overhead_s, gap_s + size_bytes * per_byte_s)
        return np.asarray(partners, dtype=np.float64) * spacing_s

    source = "q max(o, g + xG) of LogGP"
    return time_s, source + (f", where {' and '.join(assumed)} (assumed)" if assumed else "")
