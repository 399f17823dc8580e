# SPDX-License-Identifier: Apache-2.0
"""The costs of a network that is slower by some amounts: latency, overhead, time per byte."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.decide.program.costs import Costs
from nhalf.facts.program.operations import operation

AMONG_EACH = (
    *("allgather", "allgatherv", "alltoall", "alltoallv", "alltoallw"),
    *("gather", "gatherv", "scatter", "scatterv"),
)
"""Operations in which a rank has a message for or from each other one."""


@dataclass(frozen=True)
class Slower:
    """What a message takes in addition: on its way, in the processor of either end, per byte."""

    latency_s: float = 0.0
    overhead_s: float = 0.0
    byte_s: float = 0.0

    def message_s(self, size_bytes: int) -> float:
        """From the begin of its send to its arrival."""
        return self.latency_s + 2 * self.overhead_s + size_bytes * self.byte_s


class SlowerCosts(Costs):
    """The costs of a network, each message slower. An operation of p ranks has log2 p messages one
    after the other, or p - 1 where each rank has data for or from each other one.
    """

    def __init__(self, usual: Costs, slower: Slower) -> None:
        self.rendezvous_bytes = usual.rendezvous_bytes
        self.calls_take_time = usual.calls_take_time
        self._usual = usual
        self._slower = slower

    def message_s(self, source: int, target: int, size_bytes: int) -> float:
        """The usual time and what is added."""
        usual_s = self._usual.message_s(source, target, size_bytes)
        return usual_s + self._slower.message_s(size_bytes)

    def crossing_s(self, source: int, target: int, size_bytes: int) -> float:
        """The usual time and what is added."""
        usual_s = self._usual.crossing_s(source, target, size_bytes)
        return usual_s + self._slower.message_s(size_bytes)

    def busy_s(self, source: int, target: int, size_bytes: int) -> tuple[float, float]:
        """The usual times and the overhead that is added to each."""
        sending_s, receiving_s = self._usual.busy_s(source, target, size_bytes)
        return sending_s + self._slower.overhead_s, receiving_s + self._slower.overhead_s

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """The usual time and what is added to its messages."""
        usual_s = self._usual.collective_s(call, ranks, size_bytes)
        return usual_s + _messages(call, len(ranks)) * self._slower.message_s(size_bytes)


def _messages(call: str, ranks: int) -> int:
    """How many messages of an operation follow each other."""
    if ranks < 2:
        return 0
    return ranks - 1 if operation(call) in AMONG_EACH else math.ceil(math.log2(ranks))
