"""Late messages: sent when their receiver was already waiting, or received when their sender was.

Sends are matched with receives in order for each pair, communicator and tag, which MPI guarantees.
A nonblocking receive waits from the beginning of the call that completed it.
"""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program
from nhalf.facts.program.waiting import LATE_RECEIVER, LATE_SENDER

BLOCKING_RECEIVES = ("MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv", "MPI_Sendrecv_replace")
BLOCKING_SENDS = ("MPI_Send", "MPI_Ssend", "MPI_Rsend")


@fact
def matched(program: Program) -> pl.DataFrame:
    """Each message with both ends known, and their waiting times.

    Columns `source`, `target`, `communicator`, `tag`, `size_bytes`, `sent_s` (start of the send),
    `left_s` (its end), `sends_in` (its call), `received_s` (from when its receiver only waited),
    `waits_in` (the call in which it did), `arrived_s` (end of the receive),
    `late_sender_s` (how long the receiver waited for the send to start) and `late_receiver_s` (the
    sender for the receive).
    """
    keys = ["source", "target", "communicator", "tag"]
    timeline = program.timeline
    sends = _numbered(timeline, "sent", ("rank", "partner"), keys)
    receives = _numbered(_waited_for(timeline), "received", ("partner", "rank"), keys)
    messages = sends.join(receives, on=[*keys, "number"], suffix="_receive")
    late = pl.col("start_s") - pl.col("waits_s_receive")
    blocks = pl.col("call").is_in(list(BLOCKING_SENDS)) & (pl.col("waiting_s") > 0)
    in_receive = pl.min_horizontal(late, pl.col("end_s_receive") - pl.col("waits_s_receive"))
    after = pl.col("start_s_receive") - pl.col("start_s")
    in_send = pl.min_horizontal(after, pl.col("end_s") - pl.col("start_s"))
    return messages.select(
        *keys,
        "size_bytes",
        sent_s="start_s",
        left_s="end_s",
        sends_in="call",
        waits_in="wait_call_receive",
        received_s="waits_s_receive",
        arrived_s="end_s_receive",
        late_sender_s=in_receive.clip(0).fill_null(0.0),
        late_receiver_s=pl.when(blocks).then(in_send.clip(0)).otherwise(0.0),
    ).sort("sent_s", *keys)


@fact
def late_pairs(program: Program) -> pl.DataFrame:
    """Waiting times between pairs of ranks, the longest first.

    Columns `rank` (the waiting one), `late_rank`, `cause`, `messages` (late ones), `of_messages`
    (between both in that direction), `waiting_s` (for several at once counted once), `longest_s`,
    and for the longest `size_bytes` and the wait from `from_s` to `to_s`.
    """
    messages = matched(program)
    by_cause = [
        _late(messages, LATE_SENDER, ("target", "source"), "late_sender_s", "received_s"),
        _late(messages, LATE_RECEIVER, ("source", "target"), "late_receiver_s", "sent_s"),
    ]
    order = ["waiting_s", "rank", "late_rank"]
    return pl.concat(by_cause).sort(order, descending=[True, False, False])


def _late(
    messages: pl.DataFrame, cause: str, ends: tuple[str, str], waiting: str, begin: str
) -> pl.DataFrame:
    rank, late_rank = ends
    longest = pl.col(waiting).arg_max()
    until_s = pl.col(begin) + pl.col(waiting)
    before_s = until_s.cum_max().shift(1).over(rank, late_rank)
    messages = messages.sort(begin).with_columns(
        more_s=pl.min_horizontal(waiting, until_s - before_s).clip(0.0).fill_null(pl.col(waiting))
    )
    pairs = messages.group_by(rank=pl.col(rank), late_rank=pl.col(late_rank)).agg(
        cause=pl.lit(cause),
        messages=(pl.col(waiting) > 0).sum(),
        of_messages=pl.len(),
        waiting_s=pl.col("more_s").sum(),
        longest_s=pl.col(waiting).max(),
        size_bytes=pl.col("size_bytes").get(longest),
        from_s=pl.col(begin).get(longest),
    )
    return pairs.filter(pl.col("messages") > 0).with_columns(
        to_s=pl.col("from_s") + pl.col("longest_s")
    )


def _waited_for(timeline: pl.DataFrame) -> pl.DataFrame:
    """The receives with `waits_s`, the time from which they only wait; null if unknown. A call that
    completes receives ends when they do.
    """
    waits = timeline.filter(pl.col("kind") == "waiting")
    timeline = timeline.filter(pl.col("kind") == "received")
    begins = waits.group_by("rank", "thread", "end_s").agg(
        wait_s=pl.col("start_s").max(), wait_call=pl.col("call").get(pl.col("start_s").arg_max())
    )
    with_wait = timeline.join(begins, on=["rank", "thread", "end_s"], how="left")
    blocks = pl.col("call").is_in(list(BLOCKING_RECEIVES))
    return with_wait.with_columns(
        waits_s=pl.when(blocks).then("start_s").otherwise("wait_s"),
        wait_call=pl.when(blocks).then("call").otherwise("wait_call"),
    )


def _numbered(
    timeline: pl.DataFrame, kind: str, ends: tuple[str, str], keys: list[str]
) -> pl.DataFrame:
    """The calls of one kind with their source, target, and sequence number."""
    source, target = ends
    calls = timeline.filter((pl.col("kind") == kind) & (pl.col("partner") >= 0)).sort("start_s")
    numbered = calls.with_columns(source=pl.col(source), target=pl.col(target))
    if "waits_s" not in numbered.columns:
        nothing = {"waits_s": pl.Float64(), "wait_call": pl.String()}
        numbered = numbered.with_columns(
            pl.lit(None, kind).alias(name) for name, kind in nothing.items()
        )
    numbered = numbered.with_columns(number=pl.int_range(pl.len()).over(*keys))
    columns = ["number", "call", "size_bytes", "start_s", "end_s", "waiting_s", "waits_s"]
    return numbered.select(*keys, *columns, "wait_call")
