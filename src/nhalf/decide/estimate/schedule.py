"""What ranks do by the source as a program that can be replayed: calls, with computing between."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from nhalf.exchange.program.written import ScheduleRows
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
from nhalf.loops.source.compiled import compiled_cycles
from nhalf.loops.source.ma_bounds import bound
from nhalf.loops.source.misses import CacheState, Misses
from nhalf.machines.processor import Processor


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
