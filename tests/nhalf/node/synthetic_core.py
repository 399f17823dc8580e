"""A core whose caches are known, and that answers as the probe does: with noise, and neighbours."""

from __future__ import annotations

import math
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from nhalf.node.reading import CONFLICTS, Reading, reading

CYCLE_S = 4e-10


@dataclass
class SyntheticCore:
    """Two private levels, a shared one and memory; true LRU, physical pages in random colours.

    `noise` is relative; a busy neighbour disturbs `disturbed_share` of all points, and takes up to
    `pages_taken_share` of the second table of pages, more of it the more of it is used.
    `conflicting_pages` are counted where the second level holds another number.
    """

    sizes: Sequence[int] = (48 << 10, 2 << 20, 32 << 20)
    ways: Sequence[int] = (12, 16)
    cycles: Sequence[float] = (5.0, 16.0, 70.0, 250.0)
    line_bytes: int = 64
    pages: Sequence[int] = (64, 1536)
    page_cycles: Sequence[float] = (7.0, 40.0)
    noise: float = 0.002
    disturbed_share: float = 0.0
    pages_taken_share: float = 0.0
    alone_share: float = 1.0
    conflicting_pages: float = 0.0
    seed: int = 1
    launch: int = 0
    readings: list[Reading] = field(default_factory=list)

    def __post_init__(self) -> None:
        self._random = random.Random(self.seed)

    def ask(self, pattern: str, size_bytes: int, **axes: object) -> Reading:
        texts = {name: str(value) for name, value in axes.items() if value is not None}
        if pattern == CONFLICTS:
            found = self._conflicts(size_bytes, texts)
        else:
            found = self._reading(pattern, size_bytes, texts, self._cycles(size_bytes, texts))
        self.readings.append(found)
        return found

    def fallback(self, pattern: str, axis: str) -> str:
        return {(CONFLICTS, "miss"): "120"}[pattern, axis]

    def _reading(
        self, pattern: str, size_bytes: int, axes: dict[str, str], cycles: float
    ) -> Reading:
        factor = math.exp(abs(self._random.gauss(0, self.noise)))
        if self._random.random() < self.disturbed_share:
            factor *= 1 + 3 * self._random.random()
        cycles *= factor
        values: dict[str, float | None] = {
            "alone_share": self.alone_share,
            "cycle_s": CYCLE_S,
            "cycles_p10": cycles,
            "cycles_p25": cycles * 1.001,
        }
        samples_s = [cycles * 1.001 * CYCLE_S] * 5
        return reading(pattern, size_bytes, axes, self.launch, samples_s, values)

    def _cycles(self, size_bytes: int, axes: dict[str, str]) -> float:
        stride = int(axes.get("stride", "64"))
        shift = int(axes.get("shift", "0"))
        if "skew" in axes:
            pages = size_bytes // stride
            near, far = self.pages
            left = far * (1 - self.pages_taken_share)
            missed = float(pages > far) or max(0.0, pages - left) / max(1.0, far - left)
            costs = self.page_cycles
            return self._cycles(64 * pages, {}) + costs[0] * (pages > near) + costs[1] * missed
        if axes.get("huge") == "no":
            return self._cycles(size_bytes, {}) + sum(
                cycles * max(0.0, 1 - held / (size_bytes / 4096))
                for held, cycles in zip(self.pages, self.page_cycles, strict=True)
            )
        if stride < 512:
            level = sum(size_bytes > size for size in self.sizes)
            held = self.sizes[level - 1] / size_bytes if level == len(self.sizes) else 0.0
            return held * self.cycles[level - 1] + (1 - held) * self.cycles[level]
        return self._few(size_bytes // stride, stride, shift)

    def _few(self, nodes: int, stride: int, shift: int) -> float:
        """Few lines: the share of them that lie in sets of the nearest cache that overflow."""
        sets = self.sizes[0] // self.ways[0] // self.line_bytes
        lines: dict[int, set[int]] = {}
        for node in range(nodes):
            line = (node * stride + (node % 2) * shift) // self.line_bytes
            lines.setdefault(line % sets, set()).add(line)
        over = sum(len(held) for held in lines.values() if len(held) > self.ways[0])
        return self.cycles[0] + (self.cycles[1] - self.cycles[0]) * over / nodes

    def _conflicts(self, size_bytes: int, axes: dict[str, str]) -> Reading:
        pages = self.conflicting_pages or self.sizes[1] / 4096
        if self._random.random() < self.disturbed_share:
            pages += self._random.randrange(-40, 40)
        found = self._reading(CONFLICTS, size_bytes, axes, 23.0)
        votes = {
            name: 0.0 if self._random.random() < 2 * self.disturbed_share else float(value)
            for k in range(7)
            for name, value in ((f"ways_{k}", self.ways[1]), (f"line_{k}_bytes", self.line_bytes))
        }
        values = {**dict(found.values), "pages": pages, "page_bytes": 4096.0, **votes}
        samples_s = [found.low_s]
        return reading(CONFLICTS, size_bytes, axes, self.launch, samples_s, values)
