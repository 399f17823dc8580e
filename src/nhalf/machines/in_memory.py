"""Times of operations in a memory that all ranks read and write.

Each begins with a tree of flags of ceil(log2 p) levels, which is all of a barrier: on a level a
rank writes a cache line and another one reads it. To reduce vectors of n bytes each rank adds up
its part of those of all ranks, n / p of each, so that it reads n bytes: first within the nodes, so
that little passes between them. In an all-to-all each rank copies p - 1 blocks, all at once, as
fast as the resources that messages share let them.
"""

import math
from dataclasses import dataclass, field
from functools import cached_property

from nhalf.base.arrays import Floats
from nhalf.machines.draws import Draws, PredictedRate
from nhalf.machines.message import Messages
from nhalf.machines.shared import OperationMethod
from nhalf.machines.together import AllToAll


@dataclass(frozen=True)
class InMemory:
    """An operation of a machine in its memory, with draws of what is known as a range."""

    operation: OperationMethod
    messages: Messages
    draws: Draws = field(default_factory=Draws)

    def time_s(self, ranks: int, size_bytes: int) -> float:
        """The time with all ranges at their geometric mean."""
        return float(self.drawn_s(ranks, size_bytes)[0])

    def interval_s(self, ranks: int, size_bytes: int) -> tuple[float, float]:
        """The interval of the time, of 95 % of all draws."""
        time = PredictedRate.of(self.drawn_s(ranks, size_bytes))
        return time.low, time.high

    def drawn_s(self, ranks: int, size_bytes: int) -> Floats:
        """The time in every draw."""
        levels_s: Floats = math.ceil(math.log2(ranks)) * self._level_s
        if self.operation.pattern == "reduce":
            return levels_s + size_bytes / self._operand_Bps
        if self.operation.pattern == "alltoall":
            return levels_s + self._all_to_all.least_s(ranks, size_bytes)
        return levels_s

    @cached_property
    def _level_s(self) -> Floats:
        """The time of a level in every draw."""
        return self.draws.of(self.operation.level_s or 0.0)

    @cached_property
    def _operand_Bps(self) -> Floats:
        """The rate of operands in every draw; of an operation without any it is infinite."""
        return self.draws.of(self.operation.operand_Bps or math.inf)

    @cached_property
    def _all_to_all(self) -> AllToAll:
        return AllToAll(self.messages, self.draws)
