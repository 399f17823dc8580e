"""What others took: time in which a rank could have run, but its processor had other work.

It is known for each span between two calls and for each call, by the kernel's count of the time
that a thread stood in the queue of a processor. Others are other programs, or further ranks and
threads where there are more of them than processors, some of which then wait for their turn.
"""

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.facts.fact import fact
from nhalf.facts.program import critical_path as paths
from nhalf.facts.program.operations import is_begun_before
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import Actor
from nhalf.facts.program.script import Script, script
from nhalf.facts.program.waits import matched, waits

Processors = frozenset[int]


@dataclass(frozen=True)
class SharedProcessors:
    """Ranks of a host, and the processors, fewer than their `threads`, that all of them run on."""

    host: str
    processors: tuple[int, ...]
    ranks: tuple[int, ...]
    threads: int

    @property
    def threads_each(self) -> float:
        """How many threads there are for a processor."""
        return self.threads / len(self.processors)

    @property
    def has_threads(self) -> bool:
        """Whether a rank has several of them."""
        return self.threads > len(self.ranks)


@fact
def shared_processors(program: Program) -> tuple[SharedProcessors, ...]:
    """The oversubscribed processors of each host, those with most threads each first.

    Empty where it is not known which processors a rank may run on. Of sets that contain each other
    the smallest counts. A thread counts if it calls MPI and does not sleep for most of the run;
    each rank counts as one at least.
    """
    threads = {record.rank: record.threads_running for record in program.trace.ranks}
    by_host: dict[str, dict[int, Processors]] = {}
    for record in program.trace.ranks:
        if record.processors:
            by_host.setdefault(record.host, {})[record.rank] = frozenset(record.processors)
    shared = [
        SharedProcessors(
            host, tuple(sorted(processors)), ranks, sum(threads[rank] for rank in ranks)
        )
        for host, allowed in by_host.items()
        for processors, ranks in _oversubscribed(allowed, threads)
    ]
    return tuple(sorted(shared, key=lambda few: (-few.threads_each, few.host, few.ranks)))


def _oversubscribed(
    allowed: dict[int, Processors], threads: dict[int, int]
) -> Iterator[tuple[Processors, tuple[int, ...]]]:
    """Sets of processors to which ranks with more threads are bound than they are."""
    reported: list[Processors] = []
    for processors in _candidates(allowed):
        bound = tuple(sorted(rank for rank, own in allowed.items() if own <= processors))
        bound_threads = sum(threads[rank] for rank in bound)
        if bound_threads > len(processors) and not any(less <= processors for less in reported):
            reported.append(processors)
            yield processors, bound


def _candidates(allowed: dict[int, Processors]) -> list[Processors]:
    """What ranks are bound to, and what is connected by ranks that may run on several; the
    smallest first.
    """
    connected: list[Processors] = []
    for own in set(allowed.values()):
        touching = [processors for processors in connected if processors & own]
        joined = own.union(*touching)
        connected = [processors for processors in connected if not processors & own] + [joined]
    return sorted(
        {*allowed.values(), *connected}, key=lambda processors: (len(processors), min(processors))
    )


_EARLY_S = 1e-9
"""A call and the messages that it ends share a moment, but for rounding."""
LEAST_S = 5e-5
"""Less is not taken for the others', nor does the tracer look at it."""


@dataclass(frozen=True)
class Queued:
    """The spans of time of a rank in which it was queued for a part of it, in order, in seconds."""

    starts_s: Floats
    ends_s: Floats
    queued_s: Floats

    def parts_s(self, from_s: Floats, to_s: Floats) -> Floats:
        """The time in the queue between moments, where that of each span is spread over it."""
        return self._until_s(to_s) - self._until_s(from_s)

    def _until_s(self, moments_s: Floats) -> Floats:
        return paths.amounts_until_s(self.starts_s, self.ends_s, self.queued_s, moments_s)

    def most_within_s(self, from_s: float, to_s: float) -> float:
        """The most of a span of time that it can have been queued."""
        return sum(queued_s for _, _, queued_s in self.within(from_s, to_s))

    def within(self, from_s: float, to_s: float) -> list[tuple[float, float, float]]:
        """The parts in a span of time: begin, end, and the most that each was queued."""
        first = int(np.searchsorted(self.ends_s, from_s, side="right"))
        last = int(np.searchsorted(self.starts_s, to_s, side="left"))
        parts = []
        for place in range(first, last):
            begin_s = max(from_s, float(self.starts_s[place]))
            end_s = min(to_s, float(self.ends_s[place]))
            parts.append((begin_s, end_s, min(end_s - begin_s, float(self.queued_s[place]))))
        return parts


NOBODY = Queued(np.zeros(0), np.zeros(0), np.zeros(0))
"""The spans of a rank that was never queued."""


@fact
def taken_by_others(program: Program) -> pl.DataFrame:
    """Seconds by rank: columns `rank`, `between_calls_s`, `in_calls_s`, the mean of its threads
    that do not sleep, and `share`, that of both in the run time; null if that is unknown. Empty
    where processor time was not recorded.
    """
    rows = [
        (
            record.rank,
            record.queued_s / record.threads_running,
            (record.in_calls_queued_s or 0.0) / record.threads_running,
        )
        for record in sorted(program.trace.ranks, key=lambda record: record.rank)
        if record.queued_s is not None
    ]
    schema = {"rank": pl.Int32(), "between_calls_s": pl.Float64(), "in_calls_s": pl.Float64()}
    elapsed = pl.lit(program.elapsed_s if program.elapsed_s > 0 else None, dtype=pl.Float64)
    taken_s = pl.col("between_calls_s") + pl.col("in_calls_s")
    share = (taken_s / elapsed).clip(0.0, 1.0)
    return pl.DataFrame(rows, schema, orient="row").with_columns(share=share)


@fact
def most_taken_share(program: Program) -> float:
    """The largest share of the run that others took of a rank; 0 if nobody knows."""
    return float(max(taken_by_others(program)["share"].drop_nulls(), default=0.0))


@fact
def undisturbed_computing_s(program: Program) -> dict[int, float]:
    """The seconds outside MPI of each rank that was traced, without what others took of them."""
    taken_s = dict(taken_by_others(program).select("rank", "between_calls_s").iter_rows())
    return {
        rank: max(0.0, seconds - taken_s.get(rank, 0.0))
        for rank, seconds in paths.computing_s(program).items()
    }


@fact
def queued(program: Program, in_call: bool | None = None) -> dict[int, Queued]:
    """The spans of time in which each rank's thread of `own_times` was queued, in calls, between
    them, or both; empty without a timeline.
    """
    rows = program.off_processor.filter(pl.col("queued_s") > 0)
    if rows.is_empty():
        return {}
    own = [(rank, times.thread) for rank, times in paths.own_times(program).items()]
    chosen = pl.DataFrame(own, {"rank": pl.Int32(), "thread": pl.Int32()}, orient="row")
    rows = rows.join(chosen, on=["rank", "thread"], how="semi")
    if in_call is not None:
        rows = rows.filter(pl.col("in_call") == in_call)
    return {
        int(str(rank)): Queued(*(own[name].to_numpy() for name in ("start_s", "end_s", "queued_s")))
        for (rank,), own in rows.sort("rank", "start_s").group_by(["rank"], maintain_order=True)
    }


@fact
def taken_on_path_s(program: Program) -> dict[str, float]:
    """How much shorter the critical path would be if others had taken nothing on it: by call, ''
    for between calls.

    A call on the path lasts as long as the shortest one of its name from when nobody is waited for,
    without what others took of that.
    What it takes beyond that is the others' as far as a rank was queued that it depends on: its
    own, those of the other ends of messages that it ends with, in an operation any.
    """
    by_rank = queued(program)
    path = paths.critical_path(program) if by_rank else None
    if path is None:
        return {}
    shortest_s = _shortest_s(program)
    taken_s: dict[str, float] = {"": 0.0}
    between = queued(program, in_call=False)
    operations = set(program.timeline.filter(pl.col("kind") == "collective")["call"].unique())
    for before, piece in zip([None, *path.pieces[:-1]], path.pieces, strict=True):
        if not piece.call:
            span_s = piece.begin_s, piece.end_s
            taken_s[""] += between.get(piece.rank, NOBODY).most_within_s(*span_s)
        for call, begin_s, end_s in _calls(program, piece):
            excess_s = end_s - begin_s - shortest_s.get(call, 0.0)
            if excess_s < LEAST_S:
                continue
            ranks = {piece.rank, piece.rank if before is None else before.rank}
            ranks |= _other_ends(_ends(program).get(piece.rank, ((), ())), end_s)
            depends_on = by_rank if call in operations else ranks & set(by_rank)
            queues_s = sorted(by_rank[rank].most_within_s(begin_s, end_s) for rank in depends_on)
            # Two ranks may be queued one after the other.
            call_taken_s = min(excess_s, sum(queues_s[-2:]))
            taken_s[call] = taken_s.get(call, 0.0) + call_taken_s
    return taken_s


@fact
def taken_from_run_s(program: Program) -> float:
    """How much earlier the program would end if others had taken nothing on its critical path."""
    return sum(taken_on_path_s(program).values())


def _calls(program: Program, piece: paths.PathSegment) -> list[tuple[str, float, float]]:
    """The calls on a piece of the path, each from when nobody is waited for to its end."""
    if piece.call:
        return [(piece.call, piece.begin_s, piece.end_s)]
    return paths.own_times(program)[piece.rank].spans_between(piece.begin_s, piece.end_s)


def _other_ends(ends: tuple[Sequence[float], Sequence[int]], end_s: float) -> set[int]:
    """The other ends of the messages that a call ends with, among those of its rank."""
    moments_s, ranks = ends
    first = bisect_left(moments_s, end_s - _EARLY_S)
    last = bisect_right(moments_s, end_s + _EARLY_S)
    return set(ranks[first:last])


@fact
def _ends(program: Program) -> dict[int, tuple[Sequence[float], Sequence[int]]]:
    """By rank: when its sends and receives end, in order, and the rank at the other end."""
    received = matched(program).select(rank="target", end_s="arrived_s", other_end="source")
    sent = matched(program).select(rank="source", end_s="left_s", other_end="target")
    ends = pl.concat([received, sent]).sort("rank", "end_s")
    return {
        int(str(rank)): (own["end_s"].to_list(), own["other_end"].to_list())
        for (rank,), own in ends.group_by(["rank"], maintain_order=True)
    }


@fact
def _shortest_s(program: Program) -> dict[str, float]:
    """By call: the shortest time from when nobody is waited for to its end, while no rank was
    queued. If some always was, each call counts without what others took of its rank.
    """
    begun = [call for call in program.timeline["call"].unique() if is_begun_before(call)]
    whole = program.timeline.filter(~pl.col("call").is_in(begun)).select(
        "rank", pl.col("call").cast(pl.String), "start_s", "end_s"
    )
    after = waits(program).select("rank", "call", pl.col("to_s").alias("start_s"), "end_s")
    calls = pl.concat([whole, after])
    taken_s = queued_in_calls_s(program, calls.drop("call"))
    spans = program.off_processor.filter(pl.col("queued_s") > 0)
    starts_s, ends_s = (spans[name].sort().to_numpy() for name in ("start_s", "end_s"))
    began = np.searchsorted(starts_s, calls["end_s"].to_numpy(), side="left")
    ended = np.searchsorted(ends_s, calls["start_s"].to_numpy(), side="right")
    calls = calls.with_columns(is_quiet=pl.Series(began <= ended), taken_s=taken_s)
    whole_s, quiet = pl.col("end_s") - pl.col("start_s"), pl.col("is_quiet")
    shortest_s = whole_s.filter(quiet).min().fill_null((whole_s - pl.col("taken_s")).min().clip(0))
    return dict(calls.group_by("call").agg(shortest_s).iter_rows())


def queued_in_calls_s(program: Program, spans: pl.DataFrame) -> pl.Series:
    """How long others had the processor in parts of calls: the columns are rank, begin, end."""
    ranks, *spans_s = (column.to_numpy() for column in spans)
    queued_s = np.zeros(len(spans))
    for rank, queue in queued(program, in_call=True).items():
        own = ranks == rank
        queued_s[own] = queue.parts_s(*(moments_s[own] for moments_s in spans_s))
    return pl.Series(queued_s)


@fact
def undisturbed(program: Program) -> Script:
    """The script, in which each time outside MPI is shorter by what others took of it."""
    whole = script(program)
    rows = program.off_processor.filter(~pl.col("in_call") & (pl.col("queued_s") > 0))
    if rows.is_empty():
        return whole
    spans = {
        (int(str(rank)), int(str(thread))): own
        for (rank, thread), own in rows.group_by(["rank", "thread"], maintain_order=True)
    }
    actors = [
        _shortened(actor, spans[actor.rank, actor.thread])
        if (actor.rank, actor.thread) in spans
        else actor
        for actor in whole.actors
    ]
    return replace(whole, actors=actors)


def _shortened(actor: Actor, spans: pl.DataFrame) -> Actor:
    """The actor without what others took before its calls, and after the last one."""
    starts_s = actor.rows["start_s"].to_numpy() if len(actor.form) else np.zeros(0)
    places: Sequence[int] = np.searchsorted(starts_s, spans["end_s"].to_numpy() - _EARLY_S).tolist()
    before_s, after_s = actor.before_s.copy(), actor.after_s
    for place, queued_s in zip(places, spans["queued_s"], strict=True):
        if place < len(before_s):
            before_s[place] = max(0.0, before_s[place] - queued_s)
        else:
            after_s = max(0.0, after_s - queued_s)
    return replace(actor, before_s=before_s, after_s=after_s)
