# SPDX-License-Identifier: Apache-2.0
"""The curves of a message: on arrays of sizes, and by the distance of its ranks."""

from __future__ import annotations

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.machines.curve import is_between_nodes, message_library, ping_pongs, segment_starts
from nhalf.machines.machine import FittedModel, Machine
from nhalf.store.axes import parse_axes


class Message:
    """The curve of a ping-pong on arrays of sizes."""

    def __init__(self, curve: FittedModel) -> None:
        self.start_bytes = np.array(segment_starts(curve), dtype=np.float64)
        self.t0_s = np.array([segment.t0_s for segment in curve.segments])
        self.root_s = np.array([segment.root_s for segment in curve.segments])
        self.per_byte_s = np.array([1 / segment.r_inf_Bps for segment in curve.segments])

    def segment(self, size_bytes: Floats) -> np.ndarray[tuple[int, ...], np.dtype[np.intp]]:
        """The index of the segment that holds each size."""
        return np.maximum(np.searchsorted(self.start_bytes, size_bytes, side="right") - 1, 0)

    def time_s(self, size_bytes: Floats) -> Floats:
        """Seconds for each size."""
        size_bytes = np.asarray(size_bytes, dtype=np.float64)
        i = self.segment(size_bytes)
        time_s: Floats = (
            self.t0_s[i] + size_bytes * self.per_byte_s[i] + self.root_s[i] * np.sqrt(size_bytes)
        )
        return time_s


def curves_by_distance(
    machine: Machine, mpi: str = ""
) -> tuple[FittedModel, list[tuple[int, FittedModel]]]:
    """The curve within a node, and those between nodes by distance in nodes, nearest first.

    A missing one is replaced by the other. Raises InputError like `message_library`.
    """
    mpi = message_library(machine, mpi)
    curves = ping_pongs(machine, mpi)
    within = [model for model in curves if not is_between_nodes(model.placement)]
    ranks = (machine.node.ranks if machine.node else 0) or 1
    between: dict[int, FittedModel] = {}
    for model in curves:
        if is_between_nodes(model.placement):
            distance = int(parse_axes(model.axes).get("distance", "0"))
            between.setdefault(max(1, distance // ranks), model)
    listed = sorted(between.items())
    if not listed:
        return within[0], [(1, within[0])]
    listed[0] = (1, listed[0][1])
    return (within or [listed[0][1]])[0], listed
