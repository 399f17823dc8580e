# SPDX-License-Identifier: Apache-2.0
"""BT, SP and LU send what their decompositions in the specification's usual form need, exactly."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import pytest

from nhalf.measure.probe.subject import Subject
from tests.nhalf.measure.apps.counting import Traffic, counted, sends

N = 12
"""Points of class S in every direction."""
STEPS = {"bt": 60, "sp": 100, "lu": 50}
LINE_BYTES = {"bt": (240, 40), "sp": (176, 80)}
"""Of a line's piece, forward and back; BT has room for lines of the largest cell's whole face."""


def extent(place: int, parts: int) -> int:
    """Points of a part, of which the first have one more."""
    return N // parts + (place < N % parts)


def interior(place: int, parts: int) -> int:
    return extent(place, parts) - (place == 0) - (place == parts - 1)


def neighbours(x: int, y: int, q: int) -> Iterator[tuple[int, int, int]]:
    """Direction, up or down, and the rank there: multipartition moves x and y against z."""
    for direction, (dx, dy) in enumerate([(1, 0), (0, 1), (-1, 1)]):
        for sign in (1, -1):
            yield direction, sign, (x + sign * dx) % q + q * ((y + sign * dy) % q)


def alternating(kernel: str, rank: int, ranks: int) -> Traffic:
    """What a rank of BT or SP sends: faces of its cells, and pieces of lines to either side."""
    steps = STEPS[kernel]
    q = math.isqrt(ranks)
    x, y = rank % q, rank // q
    cells = [((x + c) % q, (y - c) % q, c) for c in range(q)]
    found: Traffic = Counter()
    for direction, sign, partner in neighbours(x, y, q):
        others = [d for d in range(3) if d != direction]
        within = [c for c in cells if c[direction] != (q - 1 if sign > 0 else 0)]
        faces = sum(math.prod(extent(c[d], q) for d in others) for c in within)
        found["send", partner, 80 * faces] += steps + 2
        for cell in within:
            lines = math.prod(interior(cell[d], q) for d in others)
            lines = (N // q + 1) ** 2 if kernel == "bt" else lines
            found["send", partner, LINE_BYTES[kernel][sign < 0] * lines] += steps + 1
    return found


def wavefront(rank: int, ranks: int) -> Traffic:
    """What a rank of LU sends: x is divided at least as often as y."""
    parts_y = max(y for y in range(1, math.isqrt(ranks) + 1) if ranks % y == 0)
    parts = (ranks // parts_y, parts_y)
    place = (rank % parts[0], rank // parts[0])
    found: Traffic = Counter()
    for direction in (0, 1):
        other = 1 - direction
        for step in (1, -1):
            if not 0 <= place[direction] + step < parts[direction]:
                continue
            partner = rank + step * (1 if direction == 0 else parts[0])
            row = 40 * interior(place[other], parts[other])
            found["send", partner, row] += (N - 2) * (STEPS["lu"] + 1)
            found["send", partner, 80 * N * extent(place[other], parts[other])] += STEPS["lu"] + 4
    return found


def expected(kernel: str, rank: int, ranks: int) -> Traffic:
    return wavefront(rank, ranks) if kernel == "lu" else alternating(kernel, rank, ranks)


CASES = [
    pytest.param(kernel, ranks, marks=[] if ranks <= 4 else [pytest.mark.full, pytest.mark.slow])
    for kernel, every in [("bt", (4, 9, 16)), ("sp", (4, 9, 16)), ("lu", (2, 4, 8, 16))]
    for ranks in every
]


@pytest.mark.parametrize(("kernel", "ranks"), CASES)
def test_every_rank_sends_what_its_decomposition_needs(
    subject: Subject, counter: Path, kernel: str, ranks: int
) -> None:
    for rank, found in enumerate(counted(subject, counter, kernel, ranks)):
        assert sends(found) == expected(kernel, rank, ranks), f"rank {rank}"


def test_the_totals_are_those_of_the_published_counts() -> None:
    """With d neighbours, a rank of LU sends d ((n - 2) (steps + 1) + steps + 4) messages."""
    for ranks in (4, 9, 16):
        q = math.isqrt(ranks)
        for rank in range(ranks):
            total = 6 * (STEPS["bt"] + 2) + 6 * (q - 1) * (STEPS["bt"] + 1)
            assert expected("bt", rank, ranks).total() == total
    assert expected("lu", 0, 4).total() == 2 * ((N - 2) * 51 + 54)
