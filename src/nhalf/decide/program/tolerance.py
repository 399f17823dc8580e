"""How much slower a network or a node may be before a program notices: by replays of its timeline.

The time of a replay is convex in what is added to each message, since it is the longest of many
paths, each with its number of messages: a secant finds where a hundredth is lost.
"""

from __future__ import annotations

from dataclasses import dataclass

from nhalf.base.collection import without_collection
from nhalf.decide.program.convex import crossing
from nhalf.decide.program.slowdown import PARAMETERS, Slowdown, first_of, most_of
from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program, has_whole_timeline

LOSS = 0.01
"""The share of the run time that is lost."""
ACCURACY = 1e-7
"""The share of the run time to which its loss is found."""
CALLS_MAX = 10_000
"""Dozens of replays of a longer timeline take a while: its curves are for who asks for them."""
SMALL = 1e-3
"""The share of what costs LOSS that shows the first slope."""


@dataclass(frozen=True)
class Tolerance:
    """What may be added to a parameter before LOSS is lost, None if no amount costs that much:
    seconds for each message (of `byte_s`: each byte), or a share of computing.

    `slope` is by how many seconds the run time grows with the first second that is added: how
    many messages (bytes) are on the critical path, or how much computing is.
    """

    parameter: str
    added: float | None
    slope: float


def tolerance(slowdown: Slowdown, parameter: str, loss: float = LOSS) -> Tolerance:
    """What may be added to a parameter."""

    def time_s(added: float) -> float:
        return slowdown.at(parameter, added)

    usual_s = time_s(0.0)
    if usual_s <= 0:
        return Tolerance(parameter, None, 0.0)
    most = most_of(parameter, usual_s)
    target_s = usual_s * (1 + loss)
    added = crossing(time_s, usual_s, target_s, ACCURACY * usual_s, first_of(parameter), most)
    small = SMALL * (most if added is None else added)
    return Tolerance(parameter, added, (time_s(small) - usual_s) / small)


@fact
def is_long(program: Program) -> bool:
    """Whether its timeline is longer than `tolerances` replays."""
    return len(program.timeline) > CALLS_MAX


@fact
def tolerances(program: Program) -> tuple[Tolerance, ...]:
    """The tolerance of each parameter; none without a timeline, or of one beyond CALLS_MAX."""
    if not has_whole_timeline(program) or program.elapsed_s <= 0 or is_long(program):
        return ()
    slowdown = Slowdown(program)
    with without_collection():
        return tuple(tolerance(slowdown, parameter) for parameter in PARAMETERS)
