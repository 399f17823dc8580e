"""How far answers are from figures that are right, by kind of question; and what is known to miss.

A factor is the largest by which an answer misses a figure of a machine of record, rounded up; of
what is read back, more than the digits of publications leave open (docs/benchmarks/records.md).
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from nhalf.decide.published import figures as kinds
from nhalf.decide.published.figures import Figure


class Tolerance(NamedTuple):
    """The factor by which an answer may miss a figure, and miss it beside its siblings."""

    alone: float
    siblings: float


TOLERANCES = {
    kinds.READ_BACK: Tolerance(1.02, 1.02),
    kinds.ONE_WAY: Tolerance(1.25, 1.25),
    kinds.BOTH_WAYS: Tolerance(1.15, 1.15),
    kinds.MODES: Tolerance(3.5, 3.5),
    kinds.FANS: Tolerance(2.7, 2.5),
    kinds.COLLECTIVES: Tolerance(3, 2.1),
    kinds.TOGETHER: Tolerance(1.65, 1.65),
}
SIBLINGS_LEAST = 2
"""Of fewer other figures there is no median to speak of."""


class Known(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Figures that do not follow from their machine's messages: by which ratios, and why."""

    machine: str
    pattern: str
    placement: str = ""
    ratios: tuple[float, float]
    why: str


def known(machine: str, figure: Figure) -> Known | None:
    """What is known of a figure that does not follow from messages; None if it should."""
    name, point = machine.partition(" (")[0], figure.point
    for each in all_known():
        is_there = each.placement in ("", point.placement)
        if (each.machine, each.pattern) == (name, point.pattern) and is_there:
            return each
    return None


@cache
def all_known() -> tuple[Known, ...]:
    """What does not fit together in the machines of record."""
    content = (Path(__file__).parent / "known.toml").read_bytes()
    return msgspec.toml.decode(content, type=dict[str, tuple[Known, ...]])["known"]
