"""Predicted times of receives from a queue, by its depth and the order of the receives."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError, library_named, unknown
from nhalf.machines.machine import Machine, PatternModel
from nhalf.store.keys import parse_axes

PATTERN = "drain"


@dataclass(frozen=True)
class DrainTime:
    """Seconds of one of `depth` messages of `size_bytes`, with the interval of the model's errors.

    `way` is the queue and the order: 'unexpected/reverse'.
    """

    way: str
    ranks: int
    size_bytes: int
    depth: int
    time_s: float
    interval_s: tuple[float, float] | None
    extrapolated: bool

    @property
    def total_s(self) -> float:
        """Seconds of all messages of the queue."""
        return self.depth * self.time_s

    def as_json(self) -> dict[str, Any]:
        """A row of `nhalf predict drain --json`."""
        return {
            "algorithm": self.way,
            "ranks": self.ranks,
            "bytes": self.size_bytes,
            "depth": self.depth,
            "part_bytes": None,
            "time_s": self.time_s,
            "total_s": self.total_s,
            "interval_s": self.interval_s,
            "extrapolated": self.extrapolated,
        }


def predict_drain(
    machine: Machine,
    way: str,
    depths: Sequence[int],
    sizes: Sequence[int],
    mpi: str = "",
    *,
    extrapolate: bool = False,
) -> list[DrainTime]:
    """Predict the time of a message in every queue and order known, or in one of them.

    Raises InputError if the machine has no model of queues, several libraries have one and none
    is named, or a depth or size is beyond what was measured and `extrapolate` is not set.
    """
    models = _models(machine, mpi)
    by_way: dict[tuple[str, int], list[PatternModel]] = {}
    for model in models:
        axes = parse_axes(model.axes)
        key = f"{axes['queue']}/{axes['order']}", int(axes["ranks"])
        by_way.setdefault(key, []).append(model)
    names = sorted({name for name, _ in by_way})
    if way and way not in names:
        raise unknown("queue and order", way, names)
    return [
        _time(name, ranks, regions, depth, size_bytes, extrapolate)
        for (name, ranks), regions in by_way.items()
        if way in ("", name)
        for size_bytes in sizes
        for depth in depths
    ]


def _models(machine: Machine, mpi: str) -> list[PatternModel]:
    """The models of queues of one library."""
    models = [model for model in machine.patterns if model.counts == "depth"]
    if not models:
        raise InputError(
            f"{machine.name} has no model of queues",
            "measure one: nhalf run --pattern drain --bytes 8, then nhalf fit",
        )
    libraries = sorted({carrier(model.mpi, model.transport) for model in models})
    if len(libraries) > 1 and not mpi:
        raise InputError(
            f"{machine.name} has queues of {', '.join(libraries)}", "name one: --mpi NAME"
        )
    name = library_named(mpi, libraries) if mpi else libraries[0]
    return [model for model in models if carrier(model.mpi, model.transport) == name]


def _time(
    way: str,
    ranks: int,
    regions: Sequence[PatternModel],
    depth: int,
    size_bytes: int,
    extrapolate: bool,
) -> DrainTime:
    covering = [model for model in regions if model.covers(size_bytes, depth)]
    if not covering and not extrapolate:
        raise InputError(
            f"{way} was not measured with {depth} messages of {size_bytes} B",
            "choose what was measured, or allow more with --extrapolate",
        )
    model = (covering or regions)[0]
    time_s, error = model.time_s(size_bytes, depth), model.heldout_ranks_p95
    interval_s = None if error is None else (time_s / (1 + error), time_s * (1 + error))
    return DrainTime(way, ranks, size_bytes, depth, time_s, interval_s, not covering)
