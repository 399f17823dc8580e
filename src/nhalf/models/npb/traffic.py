"""What ranks of the NAS Parallel Benchmarks send, message by message, in closed form.

Written from the decompositions of the specification; tests compare every number with what is
counted beneath the programs, and the documentation is drawn from it. A run is a whole one, with
the iteration that is not timed and the verification.
"""

import math
from collections import Counter
from collections.abc import Iterator, Sequence

from nhalf.models.npb.problems import Problem

Traffic = Counter[tuple[str, int, int]]
"""By name of the call, partner (-1 for none) and bytes: how often.

The bytes of an all-to-all are those of a block, of one with different blocks (alltoallv) the sum.
"""

SEND, ALLREDUCE, REDUCE, ALLTOALL, ALLTOALLV = (
    *("send", "allreduce", "reduce", "alltoall", "alltoallv"),
)
NOBODY = -1
NUMBER, INTEGER, POINT = 8, 4, 40
"""Bytes of a number, of an integer, of the five numbers of a point of BT, SP and LU."""
FACE_POINT = 2 * POINT
"""Bytes of a point of a face, which is two layers thick."""
LINE_BYTES = {"bt": (240, 40), "sp": (176, 80)}
"""Bytes of a line's piece, forward and back.

BT sends room for all lines of the largest cell's face.
"""
SORTS = 10 + 1
"""Iterations of IS."""
TESTS = 5
"""Keys of IS whose ranks are known."""
CHARGES = 2 * 10
"""Points of MG with a charge, of either sign."""


def traffic_of(problem: Problem, rank: int, ranks: int) -> Traffic:
    """Return what a rank sends in a whole run of a kernel."""
    return _FORMS[problem.kernel](problem, rank, ranks)


def sends(traffic: Traffic) -> Traffic:
    """Return the messages between two ranks of a rank's traffic."""
    return Counter({key: times for key, times in traffic.items() if key[0] == SEND})


def _ep(_: Problem, __: int, ___: int) -> Traffic:
    """Sums of x and y and the number of pairs, then the pairs by annulus."""
    return Counter({(ALLREDUCE, NOBODY, NUMBER): 3, (ALLREDUCE, NOBODY, 10 * NUMBER): 1})


def _cg(problem: Problem, rank: int, ranks: int) -> Traffic:
    """Butterflies along rows of ranks, and a transpose."""
    size, _, iterations = problem.numbers[:3]
    times = iterations + 1
    bits = ranks.bit_length() - 1
    columns, rows = 1 << (bits + 1) // 2, 1 << bits // 2
    row, column = divmod(rank, columns)
    is_wide = columns != rows
    own_part, mirrored_part = (
        (2 * row + column % 2, 2 * row + 1 - column % 2) if is_wide else (row, row)
    )
    mirror = column * columns + row
    if is_wide:
        mirror = column // 2 * columns + 2 * row + column % 2
    traffic: Traffic = Counter()
    for step in range(columns.bit_length() - 1):
        partner = rank ^ (1 << step)
        part = mirrored_part if is_wide and step == 0 else own_part
        traffic[SEND, partner, NUMBER] += 52 * times
        traffic[SEND, partner, 2 * NUMBER] += times
        traffic[SEND, partner, NUMBER * _part(size, part, columns)] += 26 * times
    traffic[SEND, mirror, NUMBER * _part(size, own_part, columns)] += 26 * times
    return traffic


def _part(size: int, part: int, parts: int) -> int:
    """Return the size of a part of those that differ by one at most."""
    return size * (part + 1) // parts - size * part // parts


def _ft(problem: Problem, _: int, ranks: int) -> Traffic:
    """A transpose for each transform, two where planes are shared, and a sum for each iteration."""
    nx, ny, nz, iterations = problem.numbers[:4]
    rank_bytes = 2 * NUMBER * nx * ny * nz // ranks
    traffic: Traffic = Counter({(REDUCE, NOBODY, 2 * NUMBER): iterations})
    for members in [ranks] if ranks <= nz else [ranks // nz, nz]:
        if members == 1:
            continue
        traffic[ALLTOALL, NOBODY, rank_bytes // members] += iterations + 2
    return traffic


def _is(problem: Problem, rank: int, ranks: int) -> Traffic:
    """Sizes of buckets, the number of keys for each rank, all keys; the largest to the next."""
    keys, buckets = 1 << problem.numbers[0], 1 << problem.numbers[2]
    traffic: Traffic = Counter(
        {
            (ALLREDUCE, NOBODY, INTEGER * (buckets + TESTS)): SORTS,
            (ALLTOALL, NOBODY, INTEGER): SORTS,
            (ALLTOALLV, NOBODY, INTEGER * keys // ranks): SORTS,
        }
    )
    if rank + 1 < ranks:
        traffic[SEND, rank + 1, INTEGER] = 1
    return traffic


def _mg(problem: Problem, rank: int, ranks: int) -> Traffic:
    """Layers of the blocks of every grid, and what finds the charges and the norm."""
    _, iterations = problem.numbers[:2]
    traffic: Traffic = Counter(
        {
            (ALLREDUCE, NOBODY, NUMBER): 2 * CHARGES + 2 * 4,
            (ALLREDUCE, NOBODY, 4 * INTEGER): 2 * CHARGES,
        }
    )
    if ranks == 1:
        return traffic
    box = _Box(rank, ranks)
    levels = problem.numbers[0].bit_length() - 1
    for level in range(levels):
        points = box.points(level)
        if min(points) > 0:
            times = (iterations + 1) * (2 if level == 0 else 3) + (4 if level == levels - 1 else 0)
            for axis in range(3):
                size_bytes = NUMBER * _layer(points, axis)
                for partner in box.beside(axis, level):
                    traffic[SEND, partner, size_bytes] += times
        for partner, size_bytes in _spread(box, level, levels):
            traffic[SEND, partner, size_bytes] += iterations + 1
    return traffic


class _Box:
    """The box of MG's ranks, and the place of one of them."""

    def __init__(self, rank: int, ranks: int) -> None:
        bits = ranks.bit_length() - 1
        x, y = 1 << bits // 3, 1 << (bits - bits // 3) // 2
        self.shape = (x, y, ranks // x // y)
        self.place = (rank % x, rank // x % y, rank // x // y)

    def points(self, level: int) -> list[int]:
        """Return the points of its block of a grid, of which the coarsest has two a side."""
        size = 2 << level
        return [
            _part(size, place, parts) for place, parts in zip(self.place, self.shape, strict=True)
        ]

    def beside(self, axis: int, level: int) -> Iterator[int]:
        """Yield the next ranks up and down an axis that have points of a grid."""
        distance = max(1, self.shape[axis] // (2 << level))
        for step in (distance, -distance):
            x, y, z = (
                (place + step * (number == axis)) % parts
                for number, (place, parts) in enumerate(zip(self.place, self.shape, strict=True))
            )
            yield x + self.shape[0] * (y + self.shape[1] * z)


def _layer(points: Sequence[int], axis: int) -> int:
    """Return the points of a layer: one of y has those of x at its ends, one of z both."""
    return math.prod(
        count + (2 if direction < axis else 0)
        for direction, count in enumerate(points)
        if direction != axis
    )


def _spread(box: _Box, level: int, levels: int) -> Iterator[tuple[int, int]]:
    """Yield partner and bytes of layers for ranks that have no points of a grid, axis by axis."""
    is_used = level + 1 == levels - 1 or (level + 1 < levels and min(box.points(level + 1)) > 0)
    if not is_used:
        return
    points = box.points(level)
    for axis in range(3):
        takes_part = all(points[later] > 0 for later in range(axis + 1, 3))
        if box.shape[axis] <= 2 << level or not takes_part or points[axis] == 0:
            continue
        size_bytes = NUMBER * math.prod(
            count + 2 for direction, count in enumerate(points) if direction != axis
        )
        for partner in box.beside(axis, level + 1):
            yield partner, size_bytes


def _alternating(problem: Problem, rank: int, ranks: int) -> Traffic:
    """Faces of the cells of BT or SP, pieces of lines to either side, and the norms."""
    n, steps = problem.numbers[:2]
    kernel = problem.kernel
    traffic: Traffic = Counter({(ALLREDUCE, NOBODY, POINT): 2})
    q = math.isqrt(ranks)
    if q == 1:
        return traffic
    x, y = rank % q, rank // q
    cells = [((x + c) % q, (y - c) % q, c) for c in range(q)]
    for direction, sign, partner in _neighbours(x, y, q):
        across = [d for d in range(3) if d != direction]
        within = [c for c in cells if c[direction] != (q - 1 if sign > 0 else 0)]
        faces = sum(math.prod(_extent(n, c[d], q) for d in across) for c in within)
        traffic[SEND, partner, FACE_POINT * faces] += steps + 2
        for cell in within:
            lines = math.prod(_interior(n, cell[d], q) for d in across)
            lines = (n // q + 1) ** 2 if kernel == "bt" else lines
            traffic[SEND, partner, LINE_BYTES[kernel][sign < 0] * lines] += steps + 1
    return traffic


def _neighbours(x: int, y: int, q: int) -> Iterator[tuple[int, int, int]]:
    """Yield direction, up or down, and the rank: multipartition moves x and y against z."""
    for direction, (dx, dy) in enumerate([(1, 0), (0, 1), (-1, 1)]):
        for sign in (1, -1):
            yield direction, sign, (x + sign * dx) % q + q * ((y + sign * dy) % q)


def _lu(problem: Problem, rank: int, ranks: int) -> Traffic:
    """A wavefront over x and y, of which x is divided at least as often; faces; the norms."""
    n, steps = problem.numbers[:2]
    parts_y = max(y for y in range(1, math.isqrt(ranks) + 1) if ranks % y == 0)
    parts = (ranks // parts_y, parts_y)
    place = (rank % parts[0], rank // parts[0])
    traffic: Traffic = Counter({(ALLREDUCE, NOBODY, POINT): 2, (ALLREDUCE, NOBODY, NUMBER): 1})
    for direction in (0, 1):
        across = 1 - direction
        for step in (1, -1):
            if not 0 <= place[direction] + step < parts[direction]:
                continue
            partner = rank + step * (1 if direction == 0 else parts[0])
            row_bytes = POINT * _interior(n, place[across], parts[across])
            traffic[SEND, partner, row_bytes] += (n - 2) * (steps + 1)
            face_bytes = FACE_POINT * n * _extent(n, place[across], parts[across])
            traffic[SEND, partner, face_bytes] += steps + 4
    return traffic


def _extent(n: int, place: int, parts: int) -> int:
    """Points of a part of BT, SP or LU, of which the first have one more."""
    return n // parts + (place < n % parts)


def _interior(n: int, place: int, parts: int) -> int:
    """Points of a part that are not on the surface of the cube."""
    return _extent(n, place, parts) - (place == 0) - (place == parts - 1)


_FORMS = {
    **{"ep": _ep, "cg": _cg, "ft": _ft, "is": _is, "mg": _mg, "lu": _lu},
    **{"bt": _alternating, "sp": _alternating},
}
KERNELS = tuple(_FORMS)
"""Kernels with a closed form."""
