# SPDX-License-Identifier: Apache-2.0
"""The curves of a machine for a single message, and the ranks that it connects."""

from __future__ import annotations

import bisect
import math
from collections.abc import Iterable
from itertools import pairwise

import msgspec

from nhalf.base.carrier import carrier
from nhalf.base.errors import InputError, library_named
from nhalf.base.units import format_size
from nhalf.machines.layout import parse_layout
from nhalf.machines.machine import Breakpoint, FittedModel, LogGP, Machine, Segment

PINGPONG = "pingpong"
OTHER_NODE = "other-node"
CHANGED = "(changed)"
"""After the source of numbers that are no more those of the source."""
JUMP_BYTES_MIN = 1024
"""Smaller messages are not negotiated by any library: what jumps there is a cache or a packet."""
THRESHOLD_BYTES = 65536
"""Of rendezvous, where nothing is known: what simulators take, too."""


def is_between_nodes(placement: str) -> bool:
    """Whether two ranks of a placement are on two nodes: "other-node", or a layout such as 2x1."""
    if placement == OTHER_NODE:
        return True
    layout = parse_layout(placement)
    return layout is not None and layout.hosts > 1 and layout.per_host == 1


def is_message(model: FittedModel) -> bool:
    """Whether a curve is the time of one message: ping-pong in one of its send modes."""
    return model.pattern == PINGPONG or model.pattern.startswith(f"{PINGPONG}-")


def message_curve(machine: Machine, mpi: str = "") -> FittedModel:
    """The curve of a ping-pong between two nodes, where there is none within one.

    Of several distances the first curve in the file counts. Raises InputError if there is
    none, or there are curves of several libraries and none is named.
    """
    found = ping_pongs(machine, message_library(machine, mpi))
    if not found:
        raise InputError(
            f"{machine.name} has no curve of a ping-pong",
            "measure one: nhalf run --pattern pingpong",
        )
    between = [model for model in found if is_between_nodes(model.placement)]
    return (between or found)[0]


def message_library(machine: Machine, mpi: str = "") -> str:
    """The full name of the library whose ping-pong counts; '' if the machine names none.

    Raises InputError for an unknown library, and if there are several and none is named.
    """
    libraries = message_libraries(machine)
    if mpi:
        return library_named(mpi, libraries)
    if len(libraries) > 1:
        raise InputError(
            f"{machine.name} has ping-pongs of several libraries",
            "name one with --mpi: " + ", ".join(libraries),
        )
    return libraries[0] if libraries else ""


def message_libraries(machine: Machine) -> list[str]:
    """The libraries with a curve of a ping-pong, sorted."""
    return sorted({carrier(model.mpi, model.transport) for model in ping_pongs(machine)})


def ping_pongs(machine: Machine, library: str = "") -> list[FittedModel]:
    """The curves of ping-pongs, of one library by its full name or of all."""
    found = (model for model in machine.models if model.pattern == PINGPONG and model.segments)
    return [model for model in found if library in ("", carrier(model.mpi, model.transport))]


def loggp_of(machine: Machine, model: FittedModel) -> LogGP | None:
    """The parameters of the library and placement of a curve; None if there are none.

    Those of the same library without a placement count for any.
    """
    same = [
        one for one in machine.loggp if (one.transport, one.mpi) == (model.transport, model.mpi)
    ]
    for wanted in (model.placement, ""):
        for one in same:
            if one.placement == wanted:
                return one
    return None


def threshold_bytes(machine: Machine, model: FittedModel) -> tuple[int, str]:
    """From which size on a send waits for its receive, and in a sentence whence that is known.

    Where the machine file does not say it, the first upward jump of the curve beyond
    JUMP_BYTES_MIN stands for it, where there is none THRESHOLD_BYTES.
    """
    known = None if machine.protocol is None else machine.protocol.rendezvous_bytes
    if known is not None:
        return known, f"Sends wait for their receives from {format_size(known)} on."
    for change in model.breakpoints:
        size = math.ceil(change.at_bytes)
        if change.kind == "jump" and change.change_percent > 0 and size >= JUMP_BYTES_MIN:
            return size, (
                f"That sends wait for their receives from {format_size(size)} on is assumed: "
                "there the time jumps."
            )
    return THRESHOLD_BYTES, (
        f"That sends wait for their receives from {format_size(THRESHOLD_BYTES)} on is assumed."
    )


def joined(segments: Iterable[Segment]) -> tuple[Breakpoint, ...]:
    """The changes between segments that follow each other, in the middle of what is not covered."""
    from nhalf.models.forms.segmented import BEND_PERCENT

    changes = []
    for left, right in pairwise(segments):
        at = float(right.from_bytes)
        before = left.time_s(at)
        percent = 100 * (right.time_s(at) / before - 1) if before > 0 else 0.0
        changes.append(
            Breakpoint(
                low_bytes=left.to_bytes,
                high_bytes=right.from_bytes,
                at_bytes=at,
                change_percent=percent,
                kind="jump" if abs(percent) >= BEND_PERCENT else "bend",
            )
        )
    return tuple(changes)


def starts(model: FittedModel) -> list[int]:
    """The first size that each segment stands for, 0 for the first.

    Between two segments the break says it, else the first size of the right one.
    """
    breaks = model.breakpoints
    if len(breaks) != len(model.segments) - 1:
        return [0, *(segment.from_bytes for segment in model.segments[1:])]
    return [0, *(math.ceil(change.at_bytes) for change in breaks)]


def time_at_s(model: FittedModel, size_bytes: int) -> float:
    """Seconds of a size from the first to the last of a curve; raises InputError beyond both."""
    if not model.segments[0].from_bytes <= size_bytes <= model.segments[-1].to_bytes:
        return model.time_s(size_bytes)
    return model.segments[bisect.bisect_right(starts(model), size_bytes) - 1].time_s(size_bytes)


def rebuilt(model: FittedModel, segments: Iterable[Segment]) -> FittedModel:
    """The curve with other segments: what was measured of the old ones does not hold of them."""
    segments, source = tuple(segments), model.source.removesuffix(CHANGED).strip()
    return msgspec.structs.replace(
        model,
        segments=segments,
        breakpoints=joined(segments),
        heldout_median=None,
        heldout_p95=None,
        heldout_sizes=0,
        packet_steps=None,
        source=f"{source} {CHANGED}" if source else "",
    )
