"""How far answers are from figures that are right, by kind of question; and what is known to miss.

A factor is the largest by which an answer misses a figure of a machine of record, rounded up; of
what is read back, more than the digits of publications leave open (docs/benchmarks/records.md).
"""

from functools import cache
from pathlib import Path
from typing import NamedTuple

import msgspec

from nhalf.studies.published import figures as kinds
from nhalf.studies.published.figures import Figure


class FigureTolerance(NamedTuple):
    """The factor by which an answer may miss a figure, and miss it beside its siblings."""

    alone_ratio: float
    sibling_ratio: float


TOLERANCES = {
    kinds.READ_BACK: FigureTolerance(1.02, 1.02),
    kinds.ONE_WAY: FigureTolerance(1.25, 1.25),
    kinds.BOTH_WAYS: FigureTolerance(1.15, 1.15),
    kinds.MODES: FigureTolerance(3.5, 3.5),
    kinds.FANS: FigureTolerance(2.7, 2.5),
    kinds.COLLECTIVES: FigureTolerance(3, 2.1),
    kinds.TOGETHER: FigureTolerance(1.65, 1.65),
}
SIBLINGS_LEAST = 2
"""A median of fewer other figures tells nothing."""


class KnownMiss(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Figures that do not follow from their machine's messages: by which ratios, and why."""

    machine: str
    pattern: str
    placement: str = ""
    least_ratio: float
    greatest_ratio: float
    why: str


def known_miss(machine: str, figure: Figure) -> KnownMiss | None:
    """What is known of a figure that does not follow from messages; None if it should."""
    name, point = machine.partition(" (")[0], figure.point
    for miss in known_misses():
        is_there = miss.placement in ("", point.placement)
        if (miss.machine, miss.pattern) == (name, point.pattern) and is_there:
            return miss
    return None


@cache
def known_misses() -> tuple[KnownMiss, ...]:
    """What does not fit together in the machines of record."""
    content = (Path(__file__).parent / "known.toml").read_bytes()
    return msgspec.toml.decode(content, type=dict[str, tuple[KnownMiss, ...]])["known"]
