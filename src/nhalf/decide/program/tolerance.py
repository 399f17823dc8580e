# SPDX-License-Identifier: Apache-2.0
"""How much slower a network may be before a program notices: by replays of its timeline.

The time of a replay is convex in what is added to each message, since it is the longest of many
paths, each with its number of messages: a secant finds where a hundredth is lost. What the program
was traced on counts as it was, by its own calls or by a machine file.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass

from nhalf.base.errors import NhalfError
from nhalf.decide.program.costs import Costs, MachineCosts
from nhalf.decide.program.replay import Replay
from nhalf.decide.program.slower_costs import Slower, SlowerCosts
from nhalf.decide.program.traced_costs import TracedCosts
from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program
from nhalf.facts.program.script import script
from nhalf.machines import catalogue
from nhalf.machines.message import Messages

LOSS = 0.01
"""The share of the run time that is lost."""
ACCURACY = 1e-7
"""The share of the run time to which its loss is found."""
STEPS_MAX = 60
CALLS_MAX = 300_000
"""Dozens of replays of a longer timeline take minutes."""
FIRST_S = 1e-9
MOST = 10.0
"""What is added to a message is at most this many run times."""
PARAMETERS: dict[str, Callable[[float], Slower]] = {
    "latency_s": lambda added: Slower(latency_s=added),
    "overhead_s": lambda added: Slower(overhead_s=added),
    "byte_s": lambda added: Slower(byte_s=added),
}
"""What may grow, by the name that it has in results."""


@dataclass(frozen=True)
class Tolerance:
    """What may be added to each message before LOSS is lost (of `byte_s`: to each
    byte), None if no amount costs that much.

    `messages` is how many messages (bytes) on the critical path the first bit of it is added to.
    """

    parameter: str
    added_s: float | None
    messages: float


class Slowdown:
    """The run time of a program by what is added to each of its messages."""

    def __init__(self, program: Program, traced_on: Messages | None = None) -> None:
        self._script = script(program)
        self._costs = _usual(program, traced_on)

    def time_s(self, slower: Slower) -> float:
        """The run time of a replay."""
        spent = Replay(self._script, SlowerCosts(self._costs, slower)).run()
        return max(actor.end_s for actor in spent)

    def curve_s(self, parameter: str, amounts: Sequence[float]) -> list[float]:
        """The run times with each of some amounts added to one of PARAMETERS."""
        return [self.time_s(PARAMETERS[parameter](added)) for added in amounts]

    def tolerance(self, parameter: str) -> Tolerance:
        """What may be added to a parameter."""
        slower = PARAMETERS[parameter]
        usual_s = self.time_s(Slower())
        if usual_s <= 0:
            return Tolerance(parameter, None, 0.0)
        first_s = usual_s * ACCURACY
        slope = (self.time_s(slower(first_s)) - usual_s) / first_s
        added = _crossing(lambda amount: self.time_s(slower(amount)), usual_s)
        return Tolerance(parameter, added, slope)


@fact
def tolerances(program: Program) -> tuple[Tolerance, ...]:
    """The tolerance of each parameter; none without a timeline, or of one beyond CALLS_MAX."""
    if program.timeline.is_empty() or program.elapsed_s <= 0 or len(program.timeline) > CALLS_MAX:
        return ()
    slowdown = Slowdown(program)
    return tuple(slowdown.tolerance(parameter) for parameter in PARAMETERS)


def _usual(program: Program, traced_on: Messages | None) -> Costs:
    """What messages took: on the machine of a virtual run, if it is one of record."""
    if traced_on is None and program.trace.virtual is not None:
        with suppress(NhalfError):
            traced_on = Messages(catalogue.machine(program.trace.virtual.machine))
    if traced_on is None:
        return TracedCosts(program)
    costs = MachineCosts(traced_on, program.hosts)
    if program.trace.virtual is not None:
        # No send waits for its receive there.
        costs.rendezvous_bytes = TracedCosts(program).rendezvous_bytes
    return costs


def _crossing(time_s: Callable[[float], float], usual_s: float) -> float | None:
    """Where a convex time exceeds the usual one by LOSS; None if it does nowhere."""
    target_s = usual_s * (1 + LOSS)
    low, low_s, high = 0.0, usual_s, FIRST_S
    while (high_s := time_s(high)) < target_s:
        low, low_s, high = high, high_s, 8 * high
        if high > MOST * usual_s:
            return None
    for _ in range(STEPS_MAX):
        # Of a convex function, a secant lies above: its crossing is at or before the sought one.
        middle = low + (target_s - low_s) / (high_s - low_s) * (high - low)
        middle_s = time_s(middle)
        if abs(middle_s - target_s) <= ACCURACY * usual_s:
            return middle
        if middle_s < target_s:
            low, low_s = middle, middle_s
        else:
            high, high_s = middle, middle_s
        half = 0.5 * (low + high)
        half_s = time_s(half)
        if half_s < target_s:
            low, low_s = half, half_s
        else:
            high, high_s = half, half_s
    return high
