"""The least time of an all-to-all: that in which the most loaded resource moves its bytes.

Every rank has a block for every other one, so that all resources that messages share are loaded at
once. No algorithm is faster; starts of messages, and waiting for each other, are not in it.
"""

from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.machines.draws import Draws
from nhalf.machines.message import Message, Messages
from nhalf.machines.together import ConcurrentMessages, Together


@dataclass(frozen=True)
class AllToAll:
    """The all-to-alls of a machine whose ranks fill one node after the other.

    Blocks between two leaf switches spread over all of their cables, whatever way a message takes.
    """

    messages: Messages
    draws: Draws = field(default_factory=lambda: Draws(count=1))
    _by_ranks: dict[int, Together] = field(default_factory=dict)

    def least_s(self, ranks: int, size_bytes: int) -> Floats:
        """The least time among ranks with blocks of a size, in every draw."""
        concurrent = self._concurrent
        if ranks not in self._by_ranks:
            pairs = [(a, b) for a in range(ranks) for b in range(ranks) if a != b]
            self._by_ranks[ranks] = concurrent.together(pairs)
        sizes = np.full((concurrent.count, 1), float(size_bytes))
        least_s: Floats = concurrent.least_s(self._by_ranks[ranks], sizes)[:, 0]
        return least_s

    def slower(self, ranks: int, size_bytes: int) -> float:
        """The least time over that of a rank's messages one way and alone; at least 1."""
        message = Message(self.messages.curve)
        start_s, alone_s = message.time_s(np.array([0.0, float(size_bytes)]))
        unshared_s = (ranks - 1) * float(alone_s - start_s)
        if unshared_s <= 0:
            return 1.0
        return max(1.0, float(self.least_s(ranks, size_bytes)[0]) / unshared_s)

    @cached_property
    def _concurrent(self) -> ConcurrentMessages:
        """The concurrent messages, with the ranges of the machine drawn once."""
        node = self.messages.machine.node
        per_node = node.ranks if node else 1
        return ConcurrentMessages(self.messages, self.draws, per_node, spread=True)
