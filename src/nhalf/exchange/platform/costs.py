"""The division of a message's start-up time between both processors and the transfer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.machines.change import OVERHEAD_SHARE
from nhalf.machines.changed_curves import overhead_s
from nhalf.machines.machine import FittedModel, Machine
from nhalf.machines.pieces import LinearPiece

HEADER_BYTES = 16
"""The time that SMPI 3.32 adds to every message."""


@dataclass(frozen=True)
class Cost:
    """A piece with its t0 divided between both processors and the transfer, in seconds."""

    piece: LinearPiece
    send_s: float
    receive_s: float
    way_s: float


def overheads_s(machine: Machine, model: FittedModel) -> tuple[float, float]:
    """Overheads o_s and o_r, in seconds: measured ones, or the assumed share."""
    share_s = max(0.0, OVERHEAD_SHARE * model.segments[0].t0_s)
    return overhead_s(machine, model) or (share_s, share_s)


def costs_of(
    pieces: Sequence[LinearPiece],
    rendezvous_bytes: int,
    overheads: tuple[float, float],
    links_s: float,
) -> list[Cost]:
    """Every piece with its t0 divided, less the time of the header.

    If distances differ (`links_s` is not 0) only the latency of links is latency: any other part
    would be multiplied with the distance.
    """
    both_s = sum(overheads)
    share = overheads[0] / both_s if both_s > 0 else 0.5
    costs = []
    for piece in pieces:
        remaining_s = max(0.0, piece.t0_s - HEADER_BYTES * piece.per_byte_s)
        busy_s = max(0.0, remaining_s - links_s) if links_s > 0 else min(remaining_s, both_s)
        if piece.from_bytes >= rendezvous_bytes:
            busy_s = 0.0
        costs.append(Cost(piece, share * busy_s, (1 - share) * busy_s, remaining_s - busy_s))
    return costs
