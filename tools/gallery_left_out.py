"""What was inferred from published figures, judged by leaving out one figure, or one machine.

A number that was inferred from a figure says nothing of that figure. So each is inferred again
from the other ones alone, and the figure predicted from that.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

from gallery_orders import RANKS, Claim, claims, inferred_from, predicted_s
from nhalf.base.units import format_size, format_time
from nhalf.machines import catalogue

Percent = Callable[[float], str]
Link = Callable[[str], str]
Table = Callable[[Iterable[str], Iterable[Iterable[str]]], str]
IN_MEMORY = "sunfire-link"
"""The machine whose barriers within a node are published."""


@dataclass(frozen=True)
class LeftOut:
    """A published ratio, and the same predicted without it; `time_s` is the faster one's."""

    claim: Claim
    without: str
    time_s: float

    @property
    def ratio(self) -> float:
        """How many times as fast it is predicted."""
        slower_s = predicted_s(self.claim.pattern, self.claim.slower, self.claim.size_bytes)
        return slower_s / self.time_s

    @property
    def error(self) -> float:
        """By which part of the published ratio it differs."""
        return self.ratio / (self.claim.ratio or math.nan) - 1


def left_out() -> list[LeftOut]:
    """All ratios that numbers were inferred from, each without itself, then without the machine."""
    back = [claim for claim in claims() if claim.ratio and claim in inferred_from()]
    rows = [_without_figure(claim, back) for claim in back]
    return [*rows, *_without_machine(claim for claim in back if claim.pattern == "barrier")]


def _without_figure(of: Claim, claimed: Iterable[Claim]) -> LeftOut:
    """A ratio predicted from those to all other machines."""
    times_s = [
        predicted_s(each.pattern, each.slower, each.size_bytes) / (each.ratio or math.nan)
        for each in claimed
        if (each.pattern, each.faster) == (of.pattern, of.faster) and each != of
    ]
    return LeftOut(of, "this figure", statistics.geometric_mean(times_s))


def _without_machine(barriers: Iterable[Claim]) -> Iterator[LeftOut]:
    """Ratios of barriers with the levels that were published of another machine's memory."""
    low_s, high_s = published_levels_s()
    for claim in barriers:
        levels = math.ceil(math.log2(RANKS[claim.pattern]))
        yield LeftOut(claim, "all figures of the machine", levels * math.sqrt(low_s * high_s))


def published_levels_s() -> tuple[float, float]:
    """The shortest and the longest time of a level in the published barriers within a node."""
    levels_s = [
        point.time_s / math.ceil(math.log2(point.ranks))
        for point in catalogue.machine(IN_MEMORY).points
        if (point.pattern, point.placement) == ("barrier", "same-node") and point.time_s
    ]
    return min(levels_s), max(levels_s)


def table_of(percent: Percent, link: Link, table: Table) -> str:
    """Each ratio, published and predicted without what is left out."""
    rows = []
    for each in left_out():
        claim = each.claim
        size = format_size(claim.size_bytes) if claim.size_bytes else "–"
        ratios = (f"{claim.ratio:g} times", f"{each.ratio:.3g} times", percent(each.error))
        machines = (link(claim.faster), link(claim.slower))
        rows.append(
            [claim.pattern, size, *machines, each.without, format_time(each.time_s), *ratios]
        )
    head = ["operation", "size", "faster", "than", "without", "its time", "published", "predicted"]
    return table([*head, "error"], rows)
