"""The cost of messages at one distance: within a node, or between nodes."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from nhalf.machines.curve import SoftwareCosts
from nhalf.machines.message import Message

BUSY_SHARE = 0.5
"""Share of a message within a node per side: the sender copies it in, the receiver out."""


@dataclass(frozen=True)
class MessageCosts:
    """Messages within a node, or between nodes."""

    message: Message
    software: SoftwareCosts
    between: bool
    both_ways: Message | None = None
    """Messages that cross: their additional time is processor time of each rank."""

    time_by_size_s: dict[int, float] = field(default_factory=dict)
    busy_by_size_s: dict[int, tuple[float, float]] = field(default_factory=dict)

    def time_s(self, size_bytes: int) -> float:
        """By the curve."""
        if size_bytes not in self.time_by_size_s:
            times_s = self.message.time_s(np.array([float(size_bytes)]))
            self.time_by_size_s[size_bytes] = float(times_s[0])
        return self.time_by_size_s[size_bytes]

    def crossing_s(self, size_bytes: int) -> float:
        """With another one the opposite way; as without where nobody knows."""
        if self.both_ways is None:
            return self.time_s(size_bytes)
        return float(self.both_ways.time_s(np.array([float(size_bytes)]))[0])

    def busy_s(self, size_bytes: int) -> tuple[float, float]:
        """Processor time of the sender and of the receiver."""
        if size_bytes not in self.busy_by_size_s:
            self.busy_by_size_s[size_bytes] = self._busy_s(size_bytes)
        return self.busy_by_size_s[size_bytes]

    def _busy_s(self, size_bytes: int) -> tuple[float, float]:
        whole_s = self.time_s(size_bytes)
        if not self.between:
            busy_s = BUSY_SHARE * whole_s
            busy_s = min(max(busy_s, BUSY_SHARE * self.crossing_s(size_bytes)), whole_s)
            return busy_s, busy_s
        most_s = BUSY_SHARE * whole_s
        return min(self.software.send_s, most_s), min(self.software.receive_s, most_s)
