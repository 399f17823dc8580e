"""A network on which nothing takes time: what is left is computing and who waits for whom."""

from __future__ import annotations

from collections.abc import Sequence

from nhalf.decide.program.costs import Costs
from nhalf.decide.program.replay import replays
from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program


class IdealCosts(Costs):
    """No message and no operation takes time; only a synchronous send waits for its receive."""

    rendezvous_bytes = 1 << 62
    calls_take_time = False

    def message_s(self, source: int, target: int, size_bytes: int) -> float:
        """Nothing."""
        return 0.0

    def busy_s(self, source: int, target: int, size_bytes: int) -> tuple[float, float]:
        """Nothing."""
        return 0.0, 0.0

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """Nothing."""
        return 0.0


@fact
def ideal_s(program: Program) -> float:
    """The run time without others, on a network on which nothing takes time; needs a timeline."""
    return replays(program, [(IdealCosts(), 1.0)])[0].end_s
