"""Late messages: sent when their receiver was already waiting, or received when their sender was.

Sends are matched with receives in order for each pair, communicator and tag, which MPI guarantees.
A nonblocking receive waits from the beginning of the call that completed it.
"""

from __future__ import annotations

import numpy as np
import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.distinct import Whole
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import messages, numbered, threads
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
    return both_ends(program).sort("sent_s", maintain_order=True).collect()


def both_ends(program: Program) -> pl.LazyFrame:
    """The columns of `matched` in the order of messages, each made only where somebody asks."""
    calls, pairs = numbered(program).lazy(), messages(program)
    wait = _waits(numbered(program), pairs["row_received"].to_numpy())
    sent, waited, received = (
        calls.select(**columns).select(pl.all().gather(rows))
        for rows, columns in (
            (pairs["row"], {"sends_in": "call", "sent_s": "start_s", "left_s": "end_s",
                            "sends_for_s": "waiting_s"}),
            (wait, {"waits_in": "call", "received_s": "start_s"}),
            (pairs["row_received"], {"posted_s": "start_s", "arrived_s": "end_s"}),
        )
    )  # fmt: skip
    columns = pairs.lazy().select("source", "target", "communicator", "tag", "size_bytes")
    late = pl.col("sent_s") - pl.col("received_s")
    blocks = pl.col("sends_in").is_in(list(BLOCKING_SENDS)) & (pl.col("sends_for_s") > 0)
    in_receive = pl.min_horizontal(late, pl.col("arrived_s") - pl.col("received_s"))
    after = pl.col("posted_s") - pl.col("sent_s")
    in_send = pl.min_horizontal(after, pl.col("left_s") - pl.col("sent_s"))
    return pl.concat([columns, sent, waited, received], how="horizontal").select(
        pl.exclude("sends_for_s", "posted_s"),
        late_sender_s=in_receive.clip(0).fill_null(0.0),
        late_receiver_s=pl.when(blocks).then(in_send.clip(0)).otherwise(0.0),
    )


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


def _waits(calls: pl.DataFrame, received: Whole) -> pl.Series:
    """The row of the call from whose begin each receive's rank only waits: the receive itself, or
    else the wait that ends with it; null if there is none.
    """
    start_s, end_s = (calls[name].to_numpy() for name in ("start_s", "end_s"))
    receives = pl.col("kind") == "received"
    blocks = pl.col("call").is_in(list(BLOCKING_RECEIVES))
    is_begun, is_wait = (calls.select(rows).to_series().to_numpy()
                         for rows in (receives & ~blocks, pl.col("kind") == "waiting"))  # fmt: skip
    wait = np.arange(len(calls), dtype=np.int32)
    wait[is_begun] = -1
    for begin, end in threads(calls):
        waits, begun = (begin + np.flatnonzero(rows[begin:end]) for rows in (is_wait, is_begun))
        waits = waits[np.lexsort((start_s[waits], end_s[waits]))]
        before = np.searchsorted(end_s[waits], end_s[begun], side="right")
        begun, last = begun[before > 0], waits[before[before > 0] - 1]
        is_end = end_s[last] == end_s[begun]
        wait[begun[is_end]] = last[is_end]
    return pl.Series(wait[received]).replace(-1, None)
