"""Curves in the description of a machine, and how far messages are apart at one rank there.

A rank that sends to many, or receives from many, does it at distances that follow from the parts M
and R (parts.py): fans that were measured or published, or a measured gap.
"""

from collections.abc import Iterator

import numpy as np

from nhalf.machines.capacities import whole
from nhalf.machines.machine import FittedModel
from nhalf.machines.message import Messages
from nhalf.machines.parts import parts_of

PER_S = 10**12
"""Picoseconds."""
ATTO = 10**18
SPACINGS = {"out": "M", "in": "R"}


def curve_lines(name: str, curve: FittedModel) -> list[str]:
    """The lines of a curve, one for each of its segments."""
    return [_line(name, int(start), *seconds) for start, *seconds in curve.pieces]


def spacing_lines(messages: Messages, ranks: int) -> list[str]:
    """The lines of how far messages are apart that one rank sends to all others, or receives."""
    parts = parts_of(messages)
    partners = min(max(1, ranks - 1), parts.partners_max or ranks)
    low = np.array(parts.bends_bytes)
    high = np.append(low[1:], max(2 * low[-1], 2.0**20))
    # The upper end of a piece belongs to the next one.
    inside = low + 0.5 * (high - low)

    def lines(name: str, part: str) -> Iterator[str]:
        time_s = parts.functions[part]
        at_low, at_inside = (time_s(size, partners) / partners for size in (low, inside))
        per_byte_s = (at_inside - at_low) / (inside - low)
        for first, start, per_byte in zip(low, at_low - per_byte_s * low, per_byte_s, strict=True):
            yield _line(name, round(float(first)), float(start), float(per_byte))

    return [
        line for name, part in SPACINGS.items() if part in parts.fans for line in lines(name, part)
    ]


def _line(
    name: str, from_bytes: int, start_s: float, per_byte_s: float, per_root_byte_s: float = 0.0
) -> str:
    """The line of a part of a curve: whole picoseconds, and attoseconds per byte."""
    rates = (whole(ATTO * rate_s) for rate_s in (per_byte_s, per_root_byte_s))
    return " ".join(map(str, (name, from_bytes, whole(PER_S * start_s), *rates)))
