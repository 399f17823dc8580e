"""b_eff by its own script: the machine event by event, the patterns, the averaging.

The script shares nothing with nhalf but the definition; random orders come from its own
mt19937_64 (M. Matsumoto, T. Nishimura).
"""

from __future__ import annotations

import itertools
import math
from collections import defaultdict, deque
from collections.abc import Iterator

import pytest

METHODS = ("sendrecv", "alltoallv", "nonblocking")

LONGEST = 16384

LENGTHS = [2**k for k in range(13)] + [round(4096 * 4 ** (j / 8)) for j in range(1, 9)]


def twister(seed: int) -> Iterator[int]:
    words = [seed % 2**64]
    for i in range(1, 312):
        words.append((6364136223846793005 * (words[-1] ^ words[-1] >> 62) + i) % 2**64)
    for start in itertools.count():
        i, j, k = start % 312, (start + 1) % 312, (start + 156) % 312
        mixed = words[i] & 0xFFFFFFFF80000000 | words[j] & 0x7FFFFFFF
        words[i] = words[k] ^ mixed >> 1 ^ (0xB5026F5AA96619E9 if mixed & 1 else 0)
        x = words[i]
        x ^= x >> 29 & 0x5555555555555555
        x ^= x << 17 & 0x71D67FFFEDA60000
        x ^= x << 37 & 0xFFF7EEE000000000
        yield x ^ x >> 43


def neighbours(ranks: int, ring: int) -> dict[int, tuple[int, int]]:
    """By rank: the next and the one before."""
    if ring > 6:
        order = list(range(ranks))
        random = twister(65537 + ring)
        for left in range(ranks, 1, -1):
            other = next(random) % left
            order[left - 1], order[other] = order[other], order[left - 1]
        rings = [order]
    else:
        target = min(ranks, (2, 4, 8, max(16, ranks // 4), max(32, ranks // 2), ranks)[ring - 1])
        count = max(1, min(int(ranks / target + 0.4), ranks // 2))
        base, longer = divmod(ranks, count)
        sizes = [base] * (count - longer) + [base + 1] * longer
        if base % 2:
            sizes.reverse()
        everybody = iter(range(ranks))
        rings = [list(itertools.islice(everybody, size)) for size in sizes]
    return {
        rank: (members[(i + 1) % len(members)], members[i - 1])
        for members in rings
        for i, rank in enumerate(members)
    }


def round_of(rank: int, ranks: int, beside: tuple[int, int], method: str) -> list[tuple[str, int]]:
    """What a rank does in one round, in order: sends and receives with their peer."""
    after, before = beside
    pairs = [(after, before)] if after == before else [(after, before), (before, after)]
    if method == "sendrecv":
        return [step for to, source in pairs for step in (("send", to), ("recv", source))]
    if method == "nonblocking":
        return [("send", to) for to, _ in pairs] + [("recv", source) for _, source in pairs]
    # Alltoallv on messages: the nearest rank first, upwards for sends, downwards for receives.
    return [
        *(("send", to) for to in sorted((to for to, _ in pairs), key=lambda r: (r - rank) % ranks)),
        *(("recv", s) for s in sorted((s for _, s in pairs), key=lambda r: (rank - r) % ranks)),
    ]


class Machine:
    """LogGP, one message after the other."""

    def __init__(self, ranks: int, o_s: float, o_r: float, g: float, L: float, G: float) -> None:
        self.o_s, self.o_r, self.g, self.latency, self.per_byte = o_s, o_r, g, L, G
        self.clock = [0.0] * ranks
        self.free = [0.0] * ranks
        self.taken = [-math.inf] * ranks

    def batch(self, programs: list[list[tuple[str, int]]], size: int) -> float:
        """One round from a common start; the time of the slowest rank."""
        start = max(self.clock)
        self.clock = [start] * len(programs)
        self.free = [start] * len(programs)
        arrivals: dict[tuple[int, int], deque[float]] = defaultdict(deque)
        left = [deque(program) for program in programs]
        while any(left):
            for rank, steps in enumerate(left):
                while steps:
                    what, peer = steps[0]
                    if what == "send":
                        arrivals[rank, peer].append(self.send(rank, size))
                    elif arrivals[peer, rank]:
                        self.receive(rank, arrivals[peer, rank].popleft(), size)
                    else:
                        break
                    steps.popleft()
        return max(self.clock) - start

    def send(self, rank: int, size: int) -> float:
        begin = max(self.clock[rank], self.free[rank])
        self.clock[rank] = begin + self.o_s
        self.free[rank] = begin + self.g + size * self.per_byte
        return self.clock[rank] + size * self.per_byte + self.latency

    def receive(self, rank: int, arrival: float, size: int) -> None:
        self.taken[rank] = max(arrival, self.taken[rank] + self.g + size * self.per_byte)
        self.clock[rank] = max(self.clock[rank], self.taken[rank]) + self.o_r


def settled(machine: Machine, programs: list[list[tuple[str, int]]], size: int) -> float:
    """The time of a round once it repeats itself."""
    before, now = math.nan, machine.batch(programs, size)
    for _ in range(12):
        before, now = now, machine.batch(programs, size)
    assert now == pytest.approx(before, rel=1e-10), "the script does not settle"
    return now


def own_rates(ranks: int, parameters: dict[str, float]) -> dict[tuple[int, str, int], float]:
    """Bytes per second by pattern, method and length."""
    found = {}
    for ring in range(1, 37):
        beside = neighbours(ranks, ring)
        messages = sum(1 if after == before else 2 for after, before in beside.values())
        for method in METHODS:
            programs = [round_of(rank, ranks, beside[rank], method) for rank in range(ranks)]
            for size in LENGTHS:
                time_s = settled(Machine(ranks, **parameters), programs, size)
                found[ring, method, size] = messages * size / time_s
    return found


def geometric(values: list[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def own_b_eff(found: dict[tuple[int, str, int], float]) -> tuple[float, float, float]:
    """b_eff and its two parts from rates that are maxima over repetitions already."""
    patterns = []
    for ring in range(1, 37):
        best = [max(found[ring, method, size] for method in METHODS) for size in LENGTHS]
        patterns.append(math.fsum(best) / 21)
    rings, random = geometric(patterns[:6]), geometric(patterns[6:])
    return geometric([rings, random]), rings, random
