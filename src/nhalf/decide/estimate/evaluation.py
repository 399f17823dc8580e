"""A program at one set of numbers: what its ranks do by the source, and when the last one ends."""

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import numpy as np

from nhalf.base.errors import InputError
from nhalf.decide.program.followed import followed
from nhalf.decide.program.replay import Replay, replay
from nhalf.decide.program.target import Target
from nhalf.exchange.program.written import ScheduleRows
from nhalf.facts.program.disturbance import undisturbed
from nhalf.facts.program.program import Program
from nhalf.loops.program.events import (
    RECEIVED,
    SENT,
    Called,
    Computed,
    InnermostLoop,
    Label,
    RankEvents,
)
from nhalf.loops.program.ranks import MpiProgram
from nhalf.loops.source.compiled import compiled_cycles
from nhalf.loops.source.ma_bounds import bound
from nhalf.loops.source.misses import CacheState, Misses
from nhalf.loops.source.refusal import RefusedSource
from nhalf.machines.processor import Processor
from nhalf.machines.wires import nodes_of


@dataclass(eq=False)
class LoopTimes:
    """Seconds of loops on a processor: by the bound in the order of the source, or the least.

    Without a processor computing takes no time.
    """

    processor: Processor | None
    is_least: bool = False
    _states: list[CacheState] = field(default_factory=list)
    """The state of each level of the cache whose misses take time."""
    _iteration_s: dict[tuple[InnermostLoop, tuple[Misses, ...], int, bool], float] = field(
        default_factory=dict
    )

    def begin(self) -> None:
        """A rank begins, with nothing of it in the cache."""
        processor = self.processor
        if processor is not None and (processor.in_order or not self.is_least):
            caches = processor.caches[:1] if processor.in_order else processor.caches[:-1]
            self._states = [CacheState(cache, not processor.in_order) for cache in caches]

    def time_s(self, computed: Computed) -> float:
        """The time of the iterations of a loop, after all others of its rank."""
        if self.processor is None:
            return 0.0
        counts, arrays = computed.loop.counts, dict(computed.arrays)
        misses = tuple(
            state.run(counts.streams, arrays, computed.nest, computed.iterations)
            for state in self._states
        )
        trips = computed.nest[0][1]
        key = computed.loop, misses, trips, computed.iterations > trips
        if key not in self._iteration_s:
            counts = replace(counts, misses=misses, trips=None)
            whole = bound(counts, self.processor)
            ordered = whole if self.is_least else whole.in_order or whole
            cycles = ordered.cycles
            if not self.is_least and not self.processor.in_order:
                cycles = compiled_cycles(counts, self.processor, trips, computed.iterations)
            self._iteration_s[key] = cycles / self.processor.clock_hz
        return computed.iterations * self._iteration_s[key]


@dataclass
class SourceSchedule:
    """The program, and the label of each of its sites."""

    program: Program
    labels: list[Label]


def schedule_of(path: Path, ranks: Sequence[RankEvents], loops: LoopTimes) -> SourceSchedule:
    """The calls of all ranks in their order, with the time of loops before them."""
    rows, labels = ScheduleRows(), dict[Label, int]()
    ends_s = [_Rank(rank, rows, labels).play(own, loops) for rank, own in enumerate(ranks)]
    return SourceSchedule(rows.program(path, ends_s, []), list(labels))


class _Rank:
    """Adds the rows of a rank."""

    def __init__(self, rank: int, rows: ScheduleRows, labels: dict[Label, int]) -> None:
        self._actor, self._rows, self._labels = (rank, 0), rows, labels
        self._begun: dict[int, tuple[int, str]] = {}
        """Calls that were begun: by event, their row and kind."""

    def play(self, own: RankEvents, loops: LoopTimes) -> float:
        """Add all events; returns when the rank ends."""
        now_s = 0.0
        loops.begin()
        for place, event in enumerate(own.events):
            if isinstance(event, Computed):
                now_s += loops.time_s(event)
            elif isinstance(event, Called):
                now_s = self._call(place, event, now_s)
            else:
                chosen = {place - before for before in event.begun}
                now_s = self._wait(chosen, event.label, now_s)
        return self._wait(set(self._begun), ("MPI_Finalize", 0), now_s)

    def _site(self, label: Label) -> int:
        return self._labels.setdefault(label, len(self._labels))

    def _call(self, place: int, event: Called, now_s: float) -> float:
        if event.begins:
            self._begun[place] = len(self._rows), event.kind
        about = event.partner, event.tag, event.size_bytes
        name, site = (event.call, event.kind), self._site(event.label)
        end_s = self._rows.append(self._actor, name, about, now_s, site, event.communicator)
        return now_s if event.with_next else end_s

    def _wait(self, chosen: set[int], label: Label, now_s: float) -> float:
        """Wait for all that is under way at once, else for the receives, and for each send."""
        if not chosen:
            return now_s
        site, is_all = self._site(label), len(chosen) == len(self._begun) > 1
        begun = [self._begun.pop(place) for place in sorted(chosen)]
        received = [row for row, kind in begun if kind == RECEIVED]
        if received or is_all:
            now_s = self._rows.wait(self._actor, received, is_all, now_s, site)
        for _, kind in begun:
            if kind == SENT and not is_all:
                now_s = self._rows.wait(self._actor, [], False, now_s, site)
        return now_s


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
            reason = f"{name} never ends on rank {actor.rank}: ranks wait for each other"
            raise RefusedSource(reason, line, "fix the order of the calls")
