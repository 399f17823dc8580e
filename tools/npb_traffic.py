# SPDX-License-Identifier: Apache-2.0
"""What ranks of the NAS Parallel Benchmarks send in class S, message by message.

Written from the decompositions of the specification; tests compare every number with what is
counted beneath the programs, and the documentation is drawn from it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator

Traffic = Counter[tuple[str, int, int]]
"""By name of the call, partner (-1 for none) and bytes: how often."""

POINTS = 12
"""Points of BT, SP and LU in every direction."""
STEPS = {"bt": 60, "sp": 100, "lu": 50}
LINE_BYTES = {"bt": (240, 40), "sp": (176, 80)}
"""Of a line's piece, forward and back; BT has room for lines of the largest cell's whole face."""
TRANSPOSES = 6 + 2
SORTS = 10 + 1


def sends_of(kernel: str, rank: int, ranks: int) -> Traffic:
    """What a rank sends in a whole run, with the iteration that is not timed.

    Sums are left out. Of IS what all keys take is divided evenly: they are spread as a hill.
    """
    if kernel == "cg":
        return sends_of_cg(rank, ranks)
    if kernel == "mg":
        found: Traffic = Counter()
        for peer, size_bytes, times in layers(rank, ranks):
            found["send", peer, size_bytes] += times
        return found
    if kernel == "lu":
        return wavefront(rank, ranks)
    if kernel in STEPS:
        return alternating(kernel, rank, ranks)
    if kernel in ("ft", "is"):
        block_bytes = (16 * 64**3 if kernel == "ft" else 4 * 2**16) // ranks**2
        times = TRANSPOSES if kernel == "ft" else SORTS
        return Counter({("send", peer, block_bytes): times for peer in range(ranks)})
    return Counter()


def sends_of_cg(rank: int, ranks: int) -> Traffic:
    """What a rank of CG sends: butterflies along rows of ranks, and a transpose."""
    times = 15 + 1
    bits = ranks.bit_length() - 1
    columns, rows = 1 << (bits + 1) // 2, 1 << bits // 2
    vector_bytes = 8 * 1400 // columns
    expected: Traffic = Counter()
    for step in range(columns.bit_length() - 1):
        expected["send", rank ^ (1 << step), 8] += 52 * times
        expected["send", rank ^ (1 << step), 16] += times
        expected["send", rank ^ (1 << step), vector_bytes] += 26 * times
    half, odd = (rank // 2, rank % 2) if columns != rows else (rank, 0)
    mirror = half % rows * rows + half // rows
    mirror = 2 * mirror + odd if columns != rows else mirror
    expected["send", mirror, vector_bytes] += 26 * times
    return expected


def box(rank: int, ranks: int) -> tuple[list[int], list[int]]:
    """How many ranks of MG there are in x, y and z, and where one of them is."""
    bits = ranks.bit_length() - 1
    x, y = 1 << bits // 3, 1 << (bits - bits // 3) // 2
    return [x, y, ranks // x // y], [rank % x, rank // x % y, rank // x // y]


def layers(rank: int, ranks: int) -> Iterator[tuple[int, int, int]]:
    """Partner, bytes and how often, of layers that ranks of MG swap, grid by grid."""
    shape, place = box(rank, ranks)
    for level in range(5):
        size = 2 << level
        points = [(p + 1) * size // n - p * size // n for p, n in zip(place, shape, strict=True)]
        if min(points) == 0:
            continue
        times = 5 * (2 if level == 0 else 3) + (4 if level == 4 else 0)
        areas = (
            points[1] * points[2],
            (points[0] + 2) * points[2],
            (points[0] + 2) * (points[1] + 2),
        )
        for axis, area in enumerate(areas):
            step = max(1, shape[axis] // size)
            for distance in (step, -step):
                there = list(place)
                there[axis] = (there[axis] + distance) % shape[axis]
                yield there[0] + shape[0] * (there[1] + shape[1] * there[2]), 8 * area, times


def extent(place: int, parts: int) -> int:
    """Points of a part of BT, SP or LU, of which the first have one more."""
    return POINTS // parts + (place < POINTS % parts)


def interior(place: int, parts: int) -> int:
    """Those that are not on the surface of the cube."""
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
            lines = (POINTS // q + 1) ** 2 if kernel == "bt" else lines
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
            found["send", partner, row] += (POINTS - 2) * (STEPS["lu"] + 1)
            faces = 80 * POINTS * extent(place[other], parts[other])
            found["send", partner, faces] += STEPS["lu"] + 4
    return found
