"""The messages of a machine: their curves, also on arrays of sizes, and their parameters."""

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError, library_named
from nhalf.machines.curve import PINGPONG, is_between_nodes, loggp_of, threshold_bytes
from nhalf.machines.machine import FittedModel, LogGP, Machine
from nhalf.machines.network import times_s
from nhalf.store.keys import parse_axes


class Message:
    """The curve of a ping-pong on arrays of sizes."""

    def __init__(self, curve: FittedModel) -> None:
        self._pieces = np.array(curve.pieces)
        self.start_bytes, _, self.per_byte_s, _ = self._pieces.T

    def segment(self, size_bytes: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
        """The index of the segment that holds each size."""
        return np.maximum(np.searchsorted(self.start_bytes, size_bytes, side="right") - 1, 0)

    def time_s(self, size_bytes: Floats | NDArray[np.integer[Any]]) -> Floats:
        """Seconds for each size."""
        return times_s(self._pieces, size_bytes)


@dataclass(frozen=True)
class Messages:
    """The messages of a machine with one of its libraries, looked up once.

    `mpi` may be short ('openmpi'), or '' if the machine has one library. Members that depend on the
    library raise InputError for an unknown one, and if there are several and none is named; those
    that depend on a curve also if there is no ping-pong.
    """

    machine: Machine
    mpi: str = ""

    @cached_property
    def ping_pongs(self) -> list[FittedModel]:
        """The curves of ping-pongs of all libraries."""
        return [
            model for model in self.machine.models if model.pattern == PINGPONG and model.segments
        ]

    @cached_property
    def libraries(self) -> list[str]:
        """The libraries with a curve of a ping-pong, sorted."""
        return sorted({carrier(curve.mpi, curve.transport) for curve in self.ping_pongs})

    @cached_property
    def library(self) -> str:
        """The full name of the library; '' if the machine names none."""
        if self.mpi:
            return library_named(self.mpi, self.libraries)
        if len(self.libraries) > 1:
            remedy = "name one with --mpi: " + ", ".join(self.libraries)
            raise InputError(f"{self.machine.name} has ping-pongs of several libraries", remedy)
        return self.libraries[0] if self.libraries else ""

    @cached_property
    def curves(self) -> list[FittedModel]:
        """The curves of ping-pongs of the library, at least one."""
        curves = [
            curve
            for curve in self.ping_pongs
            if self.library in ("", carrier(curve.mpi, curve.transport))
        ]
        if not curves:
            remedy = "measure one: nhalf run --pattern pingpong"
            raise InputError(f"{self.machine.name} has no curve of a ping-pong", remedy)
        return curves

    @cached_property
    def curve(self) -> FittedModel:
        """The first curve in the file between two nodes, else within a node."""
        between = [curve for curve in self.curves if is_between_nodes(curve.placement)]
        return (between or self.curves)[0]

    @cached_property
    def within_node(self) -> FittedModel:
        """The curve within a node, else the nearest between nodes."""
        within = [curve for curve in self.curves if not is_between_nodes(curve.placement)]
        return within[0] if within else self.between_nodes[0][1]

    @cached_property
    def between_nodes(self) -> list[tuple[int, FittedModel]]:
        """The curves between nodes by distance in nodes, nearest first; else that within one."""
        ranks = (self.machine.node.ranks if self.machine.node else 0) or 1
        by_distance: dict[int, FittedModel] = {}
        for curve in self.curves:
            if is_between_nodes(curve.placement):
                distance = int(parse_axes(curve.axes).get("distance", "0"))
                by_distance.setdefault(max(1, distance // ranks), curve)
        if not by_distance:
            return [(1, self.within_node)]
        (_, nearest), *farther = sorted(by_distance.items())
        return [(1, nearest), *farther]

    @cached_property
    def loggp(self) -> LogGP | None:
        """The LogGP parameters of `curve`; None if there are none."""
        return loggp_of(self.machine, self.curve)

    @cached_property
    def rendezvous(self) -> tuple[int, str]:
        """The rendezvous threshold in bytes by `curve`, and a sentence on its source."""
        return threshold_bytes(self.machine, self.curve)


def rate_falls(within: FittedModel) -> bool:
    """Whether the curve shows that the largest messages, which no cache holds, are slower."""
    peak_Bps, last_Bps = peak_and_last_Bps(within)
    return last_Bps < peak_Bps


def peak_and_last_Bps(within: FittedModel) -> tuple[float, float]:
    """The highest rate of a message at an end of a segment, and that of the largest message."""
    sizes = [
        size
        for segment in within.segments
        for size in (segment.from_bytes, segment.to_bytes)
        if size
    ]
    rates = [size / within.time_s(size) for size in sizes if within.time_s(size) > 0]
    if not rates:
        message = f"by its model {within.pattern} of {within.mpi or within.transport} takes no time"
        raise InputError(message, "fit the machine again, to a run with more sizes")
    return max(rates), rates[-1]
