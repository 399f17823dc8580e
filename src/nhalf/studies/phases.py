"""Patterns with phases: who sends to whom in which, and the middle of them."""

import statistics
from collections.abc import Callable, Mapping

from nhalf.base.errors import InputError

Pairs = list[tuple[int, int]]


def _shifted(ranks: int, phase: int) -> Pairs:
    """Each rank to that many ranks above it, round and round."""
    return [(rank, (rank + phase) % ranks) for rank in range(ranks)]


def _pairwise(ranks: int, phase: int) -> Pairs:
    """Both ways between ranks of a block of twice the distance."""
    lower = [r for r in range(ranks) if r % (2 * phase) < phase and r + phase < ranks]
    return _both_ways([(rank, rank + phase) for rank in lower])


def _cumulative(ranks: int, phase: int) -> Pairs:
    """Both ways between the first ranks and those half of all above them."""
    return _both_ways([(rank, rank + ranks // 2) for rank in range(phase)])


def _both_ways(pairs: Pairs) -> Pairs:
    return [*pairs, *((b, a) for a, b in pairs)]


PAIRS: dict[str, Callable[[int, int], Pairs]] = {
    "dense-alltoall": _shifted,
    "dense-pairwise": _pairwise,
    "dense-cumulative": _cumulative,
}
"""The messages of a phase, by pattern (native/patterns; docs/many-ranks.md)."""


def phase_numbers(pattern: str, ranks: int) -> list[int]:
    """The phases of a pattern among this many ranks."""
    return list(range(1, ranks // 2 + 1 if pattern == "dense-cumulative" else ranks))


def middle_phases(values: Mapping[int, float]) -> list[float]:
    """The values of that half of the phases that is in the middle, by their numbers."""
    quarter = len(values) // 4
    return [values[phase] for phase in sorted(values)[quarter : len(values) - quarter]]


def at_phase(values: Mapping[int, float], where: str) -> float:
    """The value of the first or last phase, or the median of the middle ones.

    Raises InputError if there are too few to tell these from each other.
    """
    if len(values) < PHASES_MIN[where]:
        message = f"too few ranks: {len(values)} phases of the {PHASES_MIN[where]} that show it"
        raise InputError(message, "take more ranks")
    if where == "middle":
        return statistics.median(middle_phases(values))
    return values[min(values) if where == "first" else max(values)]


PHASES_MIN = {"first": 2, "middle": 4, "last": 2}
