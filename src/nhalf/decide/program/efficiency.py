"""How well a program uses its ranks: the efficiencies of the POP centre of excellence.

With c the time that a rank computes, T the run time, and T* the run time on a network on which
nothing takes time:

    parallel efficiency = load balance x communication     mean c / T
    load balance                                           mean c / largest c
    communication = serialisation x transfer               largest c / T
    serialisation                                          largest c / T*
    transfer                                               T* / T

What is lost to serialisation is waiting that no network can avoid; T* is a replay of the timeline.
Where others had the ranks' processors, c, T and T* are without the time that they took.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nhalf.decide.program.basis import is_disturbed, shown_run, traced_run
from nhalf.decide.program.costs import Costs
from nhalf.decide.program.message_costs import MessageTimes
from nhalf.decide.program.replay import replays
from nhalf.facts.fact import fact
from nhalf.facts.program.calls import has_threads
from nhalf.facts.program.distinct import Whole
from nhalf.facts.program.disturbance import undisturbed_computing_s
from nhalf.facts.program.program import Program, has_whole_timeline


class IdealCosts(Costs):
    """No message and no operation takes time; only a synchronous send waits for its receive."""

    rendezvous_bytes = 1 << 62
    calls_take_time = False

    def messages(self, source: Whole, target: Whole, size_bytes: Whole) -> MessageTimes:
        """Nothing."""
        return MessageTimes(*np.zeros((5, len(size_bytes))))

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """Nothing."""
        return 0.0


@fact
def ideal_s(program: Program) -> float:
    """The run time without others, on a network on which nothing takes time; needs a timeline."""
    return replays(program, [(IdealCosts(), 1.0)])[0].end_s


@dataclass(frozen=True)
class Efficiency:
    """The tree, as shares of 1, and what it is made of, in seconds.

    Serialisation, transfer and the time on the ideal network are None without a whole timeline, and
    where several threads of a rank call MPI: which of them waits for which is not traced.
    `elapsed_s` is the run time without what others took, `measured_s` that with it.
    """

    parallel_share: float
    load_balance_share: float
    communication_share: float
    serialisation_share: float | None
    transfer_share: float | None
    elapsed_s: float
    ideal_s: float | None
    mean_computing_s: float
    largest_computing_s: float
    measured_s: float


@fact
def efficiency(program: Program) -> Efficiency | None:
    """The efficiencies of the run that shares refer to.

    None if nothing was computed between calls, or nothing is known, as where others slowed the
    run and nobody knows by how much.
    """
    shown = shown_run(program)
    seconds = undisturbed_computing_s(shown).values()
    largest_s, elapsed_s = max(seconds, default=0.0), shown.elapsed_s
    if largest_s <= 0 or elapsed_s <= 0 or is_disturbed(program):
        return None
    mean_s = sum(seconds) / len(seconds)
    is_replayed = has_whole_timeline(shown) and not has_threads(shown)
    shortest_s = ideal_s(shown) if is_replayed else None
    if shortest_s is not None and shortest_s <= 0:
        return None
    return Efficiency(
        parallel_share=mean_s / elapsed_s,
        load_balance_share=mean_s / largest_s,
        communication_share=largest_s / elapsed_s,
        serialisation_share=None if shortest_s is None else largest_s / shortest_s,
        transfer_share=None if shortest_s is None else shortest_s / elapsed_s,
        elapsed_s=elapsed_s,
        ideal_s=shortest_s,
        mean_computing_s=mean_s,
        largest_computing_s=largest_s,
        measured_s=traced_run(program).elapsed_s,
    )
