"""The best size of a part, for algorithms that cut messages.

Between two bends of a machine's curves T, M and R are lines, so a cost of parts of B bytes is

    f(B) = a + b B + c / B,  least at B = sqrt(c / b):

small parts fill a pipeline soon, large ones pay few startups. For a chain of p ranks and n bytes
with T(B) = t + B / r and parts g + G B apart that is sqrt(n g / ((p - 1) / r - G)), the optimum of
J. Pjesivac-Grbovic et al., Performance Analysis of MPI Collective Operations, Cluster Computing
10(2), 2007; for binomial trees compare S. Johnsson, C.-T. Ho, IEEE Transactions on Computers 38(9),
1989. The optimum of each piece is compared with its ends, and with powers of two, since a cost may
also bend where max() changes sides. Where messages are followed one by one (machines/composed.py),
the search goes on from there.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.machines.parts import Parts
from nhalf.models.expression import PART_BYTES, Expression

SMALLEST_BYTES = 256
"""No smaller part is sought: its header would be a notable share of it."""
NEARLY = 1.01
"""A power of two this close to the optimum is taken for it, so that tables have few rules."""
TimeOf = Callable[[int], float]
"""Seconds as a function of the bytes of a part."""


def best_part(cost: Expression, ranks: int, size_bytes: float, parts: Parts) -> int:
    """The bytes of a part with which a cost is least; PART_BYTES if that is as good."""
    sizes = sorted(_candidates(cost, ranks, size_bytes, parts))
    times_s = cost.value(ranks, size_bytes, parts.functions, np.array(sizes, dtype=np.float64))
    return _rounded(dict(zip(sizes, times_s.tolist(), strict=True)))


def best_followed_part(start_bytes: int, size_bytes: int, time_s: TimeOf) -> int:
    """The bytes of a part with the shortest time, from a first guess on.

    From the nearest power of two it goes downhill among powers of two, then looks at whole numbers
    of parts next to the optimum of f(B) through the best power and its neighbours. Parts of
    PART_BYTES are always among those compared.
    """
    times_s = {size: time_s(size) for size in dict.fromkeys([PART_BYTES, start_bytes])}
    best = 1 << (start_bytes - 1).bit_length()
    if best not in times_s:
        times_s[best] = time_s(best)
    for factor in (2.0, 0.5):
        while SMALLEST_BYTES <= (further := int(best * factor)) < 2 * size_bytes:
            if further not in times_s:
                times_s[further] = time_s(further)
            if times_s[further] >= times_s[best]:
                break
            best = further
    best = min(times_s, key=times_s.__getitem__)
    for size in set(_whole(size_bytes, [_optimum_near(best, times_s)])) - set(times_s):
        times_s[size] = time_s(size)
    return _rounded(times_s)


def _optimum_near(best_bytes: int, times_s: Mapping[int, float]) -> float:
    """Where a + b B + c / B through the best size, half and twice of it is least.

    The best size itself, if one of the three is unknown or the curve has no least value there.
    """
    around = [best_bytes // 2, best_bytes, 2 * best_bytes]
    if not times_s.keys() >= set(around):
        return best_bytes
    half_s, best_s, twice_s = (times_s[size] for size in around)
    # With x = B / best: f(2) - f(1) = b - c / 2 and f(1 / 2) - f(1) = c - b / 2.
    rise_s, fall_s = twice_s - best_s, half_s - best_s
    b, c = (rise_s + fall_s / 2) * 4 / 3, (fall_s + rise_s / 2) * 4 / 3
    return best_bytes * float(np.sqrt(c / b)) if b > 0 and c > 0 else best_bytes


def _candidates(cost: Expression, ranks: int, size_bytes: float, parts: Parts) -> set[int]:
    """Parts of which one is the best: optima and ends of pieces, and powers of two."""
    if size_bytes <= SMALLEST_BYTES:
        return {PART_BYTES}
    inside = [bend for bend in parts.bends_bytes if SMALLEST_BYTES < bend < size_bytes]
    ends = sorted({float(SMALLEST_BYTES), size_bytes / 2, *inside, float(size_bytes)})
    optima = _optima(cost, ranks, size_bytes, parts, np.array(ends))
    powers = {1 << k for k in range(SMALLEST_BYTES.bit_length() - 1, int(size_bytes).bit_length())}
    last_bytes = {int(np.ceil(end)) - 1 for end in ends[1:]}
    whole = set(_whole(size_bytes, [*optima, *ends]))
    return {PART_BYTES, *powers, *last_bytes, *(int(end) for end in ends), *whole}


def _optima(
    cost: Expression, ranks: int, size_bytes: float, parts: Parts, ends: Floats
) -> list[float]:
    """Sizes sqrt(c / b), each of a + b B + c / B through three points of a piece, if it lies in it.

    Pieces are from one of `ends` to the next; the ends of a narrow one are as good.
    """
    is_wide = ends[1:] > NEARLY * ends[:-1]
    low, high = ends[:-1][is_wide, np.newaxis], ends[1:][is_wide, np.newaxis]
    at = low + (high - low) * np.array([0.01, 0.3, 0.99])
    time_s: Floats = cost.value(ranks, size_bytes, parts.functions, at)
    scale = np.sqrt(low * high)
    terms = np.stack([np.ones_like(at), at / scale, scale / at], axis=-1)
    _, b, c = np.linalg.solve(terms, time_s[..., np.newaxis])[..., 0].T
    has_least = (b > 0) & (c > 0)
    optimum = scale[:, 0] * np.sqrt(np.divide(c, b, out=np.zeros_like(b), where=has_least))
    lies_inside = has_least & (low[:, 0] < optimum) & (optimum < high[:, 0])
    sizes: list[float] = optimum[lies_inside].tolist()
    return sizes


def _whole(size_bytes: float, parts_bytes: Iterable[float]) -> Iterator[int]:
    """Yield the sizes next to some at which a message has a whole number of equal parts."""
    for part_bytes in parts_bytes:
        count = max(1, int(size_bytes / part_bytes))
        for number in (count, count + 1):
            part = int(np.ceil(size_bytes / number))
            if part >= SMALLEST_BYTES:
                yield part


def _rounded(times_s: dict[int, float]) -> int:
    """The best size; the default, or a power of two, where that is nearly as good."""
    least_s = min(times_s.values())
    if times_s[PART_BYTES] <= least_s:
        return PART_BYTES
    powers = [size for size in times_s if size & (size - 1) == 0]
    power = min(powers, key=times_s.__getitem__)
    return power if times_s[power] <= NEARLY * least_s else min(times_s, key=times_s.__getitem__)
