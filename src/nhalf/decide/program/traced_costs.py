"""The cost of messages and collective operations in the trace itself, without waiting."""

from collections.abc import Mapping, Sequence

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.decide.program.costs import Costs
from nhalf.decide.program.message_costs import MessageTimes
from nhalf.facts.program.distinct import Whole, distinct_rows
from nhalf.facts.program.disturbance import queued, queued_in_calls_s
from nhalf.facts.program.operations import IN_PLACE, is_non_blocking, with_any_root
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import numbered, pairing
from nhalf.facts.program.script import script
from nhalf.facts.program.waits import both_ends, late_senders
from nhalf.measure.traced.tables import NAMES

_TAKEN = ("call", "size_bytes", "time_s", "queued_s")
SizeTimes = Sequence[tuple[int, float]]
"""Sizes in increasing order, with seconds."""


class TracedCosts(Costs):
    """Costs of a program's own calls.

    A message takes the median of those whose receive was posted in time, a collective operation the
    median from the last arrival to the end, of a nonblocking one within waits; where others had the
    processor of a rank in the call, without that. Without a timeline these are the shortest calls.
    A size that does not occur takes the time of the next smaller one.
    """

    def __init__(self, program: Program) -> None:
        self.rendezvous_bytes = 1 << 62
        self._sent = _shortest(program.calls, "sent")
        self._received = _shortest(program.calls, "received")
        has_order = not program.timeline.is_empty()
        self._messages = _transfer_times(program) if has_order else []
        self._collective = (
            _after_last_arrival(program) if has_order else _shortest_of_all(program.calls)
        )

    def messages(self, source: Whole, target: Whole, size_bytes: Whole) -> MessageTimes:
        """A message takes from the begin of its send to the end of a receive that waited for it;
        processors the shortest send and receive of the size, which may have waited as well.
        """
        sending_s, receiving_s = (_at(own, size_bytes) for own in (self._sent, self._received))
        way_s = sending_s + receiving_s
        if self._messages:
            way_s = _at(self._messages, size_bytes)
            sending_s, receiving_s = np.minimum(sending_s, way_s), np.minimum(receiving_s, way_s)
        return MessageTimes(way_s, way_s, sending_s, receiving_s, np.zeros(len(size_bytes)))

    def collective_s(self, call: str, ranks: Sequence[int], size_bytes: int) -> float:
        """The time of the call on any communicator."""
        times_s = self._collective.get(with_any_root(call), ())
        return float(_at(times_s, np.array([size_bytes]))[0])


def _shortest(calls: pl.DataFrame, kind: str) -> SizeTimes:
    messages = calls.filter((pl.col("kind") == kind) & (pl.col("partner") >= 0))
    return _listed(messages.group_by("size_bytes").agg(pl.col("min_s").min()))


def _transfer_times(program: Program) -> SizeTimes:
    """The transfer time of messages for which the receiver waited."""
    calls, pairs, late = numbered(program), pairing(program), _waited_for(program)
    arrived_s = calls["end_s"].to_numpy()[pairs.received[late]]
    way_s = arrived_s - calls["start_s"].to_numpy()[pairs.sent[late]]
    sizes = np.array([size_bytes for _, _, size_bytes in pairs.routes], np.int64)
    times = pl.DataFrame({"size_bytes": sizes[pairs.route[late]], "way_s": way_s})
    times = times.with_columns(queued_s=pl.lit(0.0))
    if queued(program):
        frame = pl.all().gather(late)
        begins_s = pl.max_horizontal("sent_s", "received_s")
        ends = both_ends(program).select(frame).with_columns(begins_s=begins_s).collect()
        queued_s = queued_in_calls_s(program, ends.select("source", "sent_s", "left_s"))
        queued_s += queued_in_calls_s(program, ends.select("target", "begins_s", "arrived_s"))
        times = times.with_columns(queued_s=queued_s)
    return _listed(times.group_by("size_bytes").agg(_typical("way_s")))


def _waited_for(program: Program) -> Whole:
    """The messages for which the receiver waited: from before they were sent on, or else, of a size
    without such, for most of their way.
    """
    calls, pairs, (wait, late_s) = numbered(program), pairing(program), late_senders(program)
    sizes, is_late = np.array([size_bytes for _, _, size_bytes in pairs.routes]), late_s > 0
    has_late = np.isin(sizes, sizes[np.unique(pairs.route[is_late])])
    without = np.flatnonzero(~has_late[pairs.route] & (wait >= 0))
    start_s, end_s = (calls[name].to_numpy() for name in ("start_s", "end_s"))
    arrived_s = end_s[pairs.received[without]]
    way_s = arrived_s - start_s[pairs.sent[without]]
    is_late[without] = 2 * (arrived_s - start_s[wait[without]]) > way_s
    return np.flatnonzero(is_late)


def _typical(name: str) -> pl.Expr:
    """The median of those that nobody disturbed; where all were, of what is left of them."""
    time, queued_s = pl.col(name), pl.col("queued_s")
    quiet = time.filter(queued_s <= 0)
    return quiet.median().fill_null((time - queued_s).clip(0).median())


def _after_last_arrival(program: Program) -> Mapping[str, SizeTimes]:
    """The time of each collective operation from its last arrival on."""
    names = ("rank", "communicator", "call", "number", "tag", "size_bytes", "start_s", "end_s")
    calls = numbered(program).lazy().filter(pl.col("kind") == "collective").select(names).collect()
    name = calls["call"].cast(NAMES["call"]).to_physical()
    kinds = (calls["communicator"], calls["number"], name, calls["tag"] % 2)
    calls = calls.with_columns(
        operation=distinct_rows(*(kind.to_numpy() for kind in kinds)),
        queued_s=queued_in_calls_s(program, calls.select("rank", "start_s", "end_s")),
    )
    call = pl.col("call").first().cast(pl.String)
    operations = calls.group_by("operation").agg(
        pl.col("size_bytes").mean().cast(pl.Int64),
        call=pl.when(pl.col("tag").first() % 2 != 0).then(call + IN_PLACE).otherwise(call),
        time_s=(pl.col("end_s").max() - pl.col("start_s").max()).clip(0),
        # Two ranks may be queued one after the other. Where none is, nothing is to be sorted.
        queued_s=pl.col("queued_s").top_k(2).sum()
        if queued(program, in_call=True)
        else pl.lit(0.0),
    )
    begun = [call for call in operations["call"].unique() if is_non_blocking(call)]
    if begun:
        blocking = operations.filter(~pl.col("call").is_in(begun))
        operations = pl.concat([blocking.select(_TAKEN), _in_waits(program)])
    return _by_call(operations.group_by("call", "size_bytes").agg(_typical("time_s")))


def _in_waits(program: Program) -> pl.DataFrame:
    """By nonblocking operation: what it takes of the waits that complete it, from its last arrival
    on. Those of one wait take it in turn, each as long as its bytes say.
    """
    whole = script(program)
    parts, ended = whole.parts, whole.ended
    part = whole.subject[ended.completed]
    is_begun = np.isin(ended.completed, parts.step)
    part, wait = part[is_begun], ended.step[is_begun]
    begins_s, ends_s = whole.times_s
    arrived_s = np.full(parts.operations, -np.inf)
    np.maximum.at(arrived_s, parts.operation, begins_s[parts.step])
    from_s = begins_s.copy()
    np.maximum.at(from_s, wait, arrived_s[parts.operation[part]])
    ranks = np.repeat([actor.rank for actor in whole.actors], np.diff(whole.first))
    queued_s = np.zeros(len(from_s))
    own = np.unique(wait)
    spans = pl.DataFrame([pl.Series(column[own]) for column in (ranks, from_s, ends_s)])
    queued_s[own] = queued_in_calls_s(program, spans).to_numpy()
    size = np.array([size_bytes for _, _, size_bytes in parts.works])[parts.work[part]]
    share = np.maximum(size, 1) / np.bincount(wait, np.maximum(size, 1))[wait]
    rows = pl.DataFrame({
        "operation": parts.operation[part],
        "call": [with_any_root(parts.works[work][0]) for work in parts.work[part].tolist()],
        "size_bytes": size,
        "from_s": from_s[wait],
        "end_s": ends_s[wait],
        "share": share,
        "queued_s": share * queued_s[wait],
    })  # fmt: skip
    # Until the last rank waits, others wait for it.
    took_s = (pl.col("end_s").max() - pl.col("from_s").max()).clip(0)
    of_all = rows.filter(pl.col("call") != "").group_by("operation", "call", "size_bytes")
    times = of_all.agg(time_s=took_s * pl.col("share").mean(), queued_s=pl.col("queued_s").max())
    return times.select(_TAKEN)


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


def _at(times_s: SizeTimes, size_bytes: Whole) -> Floats:
    if not times_s:
        return np.zeros(len(size_bytes))
    sizes, seconds = np.array(times_s).T
    own: Floats = seconds[np.maximum(np.searchsorted(sizes, size_bytes, side="right") - 1, 0)]
    return own
