"""A program at one set of numbers: when its last rank ends, and what that rank spent where."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from nhalf.base.errors import InputError
from nhalf.decide.estimate.schedule import LoopTimes, schedule_of
from nhalf.decide.program.followed import followed
from nhalf.decide.program.replay import Replay, replay
from nhalf.decide.program.target import Target
from nhalf.facts.program.program import Program
from nhalf.facts.program.undisturbed import undisturbed
from nhalf.loops.program.events import Called, Computed, Label, RankEvents
from nhalf.loops.program.ranks import MpiProgram
from nhalf.loops.source.refusal import RefusedSource
from nhalf.machines.processor import Processor
from nhalf.machines.wires import nodes_of

COMPUTING = "computing"


@dataclass(frozen=True)
class SourceQuestion:
    """A program on a machine: `target` has its messages and the nodes of its ranks.

    `ask` makes a target that has asked a library for the operations of a program; None if the
    machine's own count. With `messages_alone` computing takes no time.
    """

    source: MpiProgram
    target: Target
    processor: Processor | None
    ask: Callable[[Program, Sequence[str]], Target] | None = None
    messages_alone: bool = False

    def hosts(self, ranks: int) -> list[str]:
        """The node of each rank; raises InputError for more ranks than there is room for."""
        machine = self.target.messages.machine
        return [str(node) for node in nodes_of(machine, ranks, self.target.placement)]

    def events(self, numbers: Mapping[str, int], ranks: int) -> list[RankEvents]:
        """What the ranks do; raises RefusedSource, and InputError for loops that nothing times."""
        events = self.source.ranks(numbers, ranks)
        if computes(events) and self.processor is None and not self.messages_alone:
            raise InputError(
                f"{self.target.messages.machine.name} names no processor, and "
                f"{self.source.path.name} has loops to compute",
                "give one: --processor power2, here or a file; or none for messages alone",
            )
        return events


@dataclass
class Evaluation:
    """When a program ends, and by call or loop what the last rank spent, waiting included.

    Unless `is_followed` its messages share nothing; `replayed_s` is its end without that.
    """

    program: Program
    end_s: float
    forced: int
    last_rank: int
    is_followed: bool
    replayed_s: float
    time_s: dict[Label, float] = field(default_factory=dict)
    count: Counter[Label] = field(default_factory=Counter)
    size_bytes: Counter[Label] = field(default_factory=Counter)

    def spend(self, label: Label, time_s: float) -> None:
        """Add time."""
        self.time_s[label] = self.time_s.get(label, 0.0) + time_s


def computes(events: Sequence[RankEvents]) -> bool:
    """Whether any rank has a loop."""
    return any(isinstance(event, Computed) for own in events for event in own.events)


def evaluated(
    question: SourceQuestion, target: Target, events: Sequence[RankEvents], *, is_least: bool
) -> Evaluation:
    """The replay of what ranks do; `is_least` is with loops in the fastest order of their sums."""
    loops = LoopTimes(question.processor, is_least)
    schedule = schedule_of(question.source.path, events, loops)
    costs = target.costs(question.hosts(len(events)))
    script = undisturbed(schedule.program)
    alone = replay(script, costs, follows=True)
    _check_ends(alone, schedule.labels)
    whole = followed(script, costs, target.messages)
    last, end_s = (whole.last, whole.end_s) if whole else (alone.last, alone.end_s)
    actor = script.actors[last]
    evaluation = Evaluation(
        schedule.program, end_s, alone.forced, actor.rank, whole is not None, alone.end_s
    )
    loops.begin()
    for event in events[actor.rank].events:
        if isinstance(event, Computed):
            evaluation.spend((COMPUTING, event.loop.counts.line), loops.time_s(event))
            evaluation.count[COMPUTING, event.loop.counts.line] += event.iterations
            continue
        is_first_half = isinstance(event, Called) and event.with_next
        evaluation.count[event.label] += not is_first_half
        if isinstance(event, Called):
            evaluation.size_bytes[event.label] += event.size_bytes
    begins_s, ends_s = (whole.begins_s, whole.ends_s) if whole else alone.spans_s(last)
    times_s = (ends_s[: len(begins_s)] - begins_s).tolist()
    for site, time_s in zip(actor.column("site").tolist(), times_s, strict=True):
        evaluation.spend(schedule.labels[site], time_s)
    return evaluation


def _check_ends(alone: Replay, labels: Sequence[Label]) -> None:
    """Raises RefusedSource for a call that never ends, since its ranks wait for each other."""
    for number, actor in enumerate(alone.script.actors):
        stuck = np.flatnonzero(np.isnan(alone.ends_s(number)))
        if len(stuck):
            name, line = labels[actor.column("site")[stuck[0]]]
            raise RefusedSource(
                f"{name} never ends on rank {actor.rank}: ranks wait for each other",
                line,
                "fix the order of the calls",
            )
