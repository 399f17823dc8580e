"""The cost of messages and collective operations in the trace itself, without waiting."""

from __future__ import annotations

import math
from bisect import bisect_right
from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from nhalf.decide.program.costs import Costs
from nhalf.facts.program.disturbance import queued, queued_in_calls_s
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import messages, numbered
from nhalf.facts.program.waits import both_ends, late_senders

SizeTimes = Sequence[tuple[int, float]]
"""Sizes in increasing order, with seconds."""


class TracedCosts(Costs):
    """Costs of a program's own calls.

    A message takes the median of those whose receive was posted in time, a collective operation the
    median from the last arrival to the end; where others had the processor of a rank in the call,
    without that. Without a timeline these are the shortest calls. A size that does not occur takes
    the time of the next smaller one.
    """

    def __init__(self, program: Program) -> None:
        self.rendezvous_bytes = 1 << 62
        self._busy_s: dict[int, tuple[float, float]] = {}
        self._message_s: dict[int, float] = {}
        self._sent = _shortest(program.calls, "sent")
        self._received = _shortest(program.calls, "received")
        has_order = not program.timeline.is_empty()
        self._messages = _transfer_times(program) if has_order else []
        self._collective = (
            _after_last_arrival(program) if has_order else _shortest_of_all(program.calls)
        )

    def message_s(self, source: int, target: int, size_bytes: int) -> float:
        """From the begin of a send to the end of a receive that waited for it."""
        if self._messages:
            if size_bytes not in self._message_s:
                self._message_s[size_bytes] = _at(self._messages, size_bytes)
            return self._message_s[size_bytes]
        return sum(self.busy_s(source, target, size_bytes))

    def busy_s(self, source: int, target: int, size_bytes: int) -> tuple[float, float]:
        """The shortest send and the shortest receive of the size, which may have waited as well."""
        if size_bytes not in self._busy_s:
            self._busy_s[size_bytes] = self._shortest_s(size_bytes)
        return self._busy_s[size_bytes]

    def _shortest_s(self, size_bytes: int) -> tuple[float, float]:
        sends_s, receives_s = _at(self._sent, size_bytes), _at(self._received, size_bytes)
        if self._messages:
            whole_s = _at(self._messages, size_bytes)
            return min(sends_s, whole_s), min(receives_s, whole_s)
        return sends_s, receives_s

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """The time of the call on any communicator."""
        return _at(self._collective.get(call, ()), size_bytes)


def _shortest(calls: pl.DataFrame, kind: str) -> SizeTimes:
    messages = calls.filter((pl.col("kind") == kind) & (pl.col("partner") >= 0))
    return _listed(messages.group_by("size_bytes").agg(pl.col("min_s").min()))


def _transfer_times(program: Program) -> SizeTimes:
    """The transfer time of messages for which the receiver waited."""
    calls, pairs, (_, late_s) = numbered(program), messages(program), late_senders(program)
    late = np.flatnonzero(late_s > 0)
    sent, received = (pairs[name].to_numpy()[late] for name in ("row", "row_received"))
    arrived_s = calls["end_s"].to_numpy()[received]
    way_s = arrived_s - calls["start_s"].to_numpy()[sent]
    times = pairs.select(pl.col("size_bytes").gather(late)).with_columns(way_s=way_s, queued_s=0.0)
    if queued(program):
        ends = (
            both_ends(program)
            .filter(pl.col("late_sender_s") > 0)
            .with_columns(begins_s=pl.max_horizontal("sent_s", "received_s"))
            .collect()
        )
        queued_s = queued_in_calls_s(program, ends.select("source", "sent_s", "left_s"))
        queued_s += queued_in_calls_s(program, ends.select("target", "begins_s", "arrived_s"))
        times = times.with_columns(queued_s=queued_s)
    return _listed(times.group_by("size_bytes").agg(_typical("way_s")))


def _typical(name: str) -> pl.Expr:
    """The median of those that nobody disturbed; where all were, of what is left of them."""
    time, queued_s = pl.col(name), pl.col("queued_s")
    quiet = time.filter(queued_s <= 0)
    return quiet.median().fill_null((time - queued_s).clip(0).median())


def _after_last_arrival(program: Program) -> Mapping[str, SizeTimes]:
    """The time of each collective operation from its last arrival on."""
    names = ("rank", "communicator", "call", "number", "size_bytes", "start_s", "end_s")
    calls = numbered(program).lazy().filter(pl.col("kind") == "collective").select(names).collect()
    calls = calls.with_columns(
        queued_s=queued_in_calls_s(program, calls.select("rank", "start_s", "end_s"))
    )
    operations = calls.group_by("communicator", "call", "number").agg(
        pl.col("size_bytes").mean().cast(pl.Int64),
        time_s=(pl.col("end_s").max() - pl.col("start_s").max()).clip(0),
        # Two ranks may be queued one after the other.
        queued_s=pl.col("queued_s").top_k(2).sum(),
    )
    typical = operations.group_by("call", "size_bytes").agg(_typical("time_s"))
    return _by_call(typical)


def _shortest_of_all(calls: pl.DataFrame) -> Mapping[str, SizeTimes]:
    """The median over the ranks of the shortest call."""
    operations = calls.filter(pl.col("kind") == "collective")
    ranks = operations.group_by("call", "size_bytes", "rank").agg(pl.col("min_s").min())
    return _by_call(ranks.group_by("call", "size_bytes").agg(pl.col("min_s").median()))


def _by_call(frame: pl.DataFrame) -> Mapping[str, SizeTimes]:
    return {
        str(call): _listed(rows.drop("call"))
        for (call,), rows in frame.group_by(["call"], maintain_order=True)
    }


def _listed(frame: pl.DataFrame) -> SizeTimes:
    return [(int(size), float(time_s)) for size, time_s in frame.sort("size_bytes").iter_rows()]


def _at(times_s: SizeTimes, size_bytes: int) -> float:
    if not times_s:
        return 0.0
    place = bisect_right(times_s, (size_bytes, math.inf))
    return times_s[max(0, place - 1)][1]
