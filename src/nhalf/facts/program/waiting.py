# SPDX-License-Identifier: Apache-2.0
"""What ranks wait for: late senders, late receivers, others that come late to a collective.

The tables of calls say how long each call waited. With a timeline the cause is known: a message is
matched with its receive in the order of each pair, communicator and tag, which MPI guarantees; a
collective with the same call of the other ranks by its number in the communicator.
"""

from __future__ import annotations

import polars as pl

LATE_SENDER, LATE_RECEIVER, COLLECTIVE_WAIT, COMPLETION = (
    "late sender",
    "late receiver",
    "collective",
    "completion",
)
_CAUSES = {
    "received": LATE_SENDER,
    "sent": LATE_RECEIVER,
    "collective": COLLECTIVE_WAIT,
    "waiting": COMPLETION,
}
BLOCKING_RECEIVES = ("MPI_Recv", "MPI_Mrecv", "MPI_Sendrecv", "MPI_Sendrecv_replace")
BLOCKING_SENDS = ("MPI_Send", "MPI_Ssend", "MPI_Rsend")


def waiting(calls: pl.DataFrame) -> pl.DataFrame:
    """Seconds by rank and cause: columns `rank`, `cause`, `waiting_s`.

    What waits in MPI_Wait and its family counts as `completion`: only a timeline tells whose
    message it was.
    """
    caused = calls.filter(pl.col("kind").is_in(list(_CAUSES))).with_columns(
        cause=pl.col("kind").replace_strict(list(_CAUSES), list(_CAUSES.values()), default="")
    )
    found = caused.group_by("rank", "cause").agg(pl.col("waiting_s").sum())
    return found.filter(pl.col("waiting_s") > 0).sort("rank", "cause")


def arrivals(timeline: pl.DataFrame) -> pl.DataFrame:
    """Each collective operation of a timeline: who comes last, and what that costs.

    Columns `communicator`, `call`, `number` in its communicator, `ranks`, `start_s` of the first,
    `spread_s` from the first to the last arrival, `last_rank`, `waiting_s` until the last arrival,
    summed over the others.
    """
    order = ["communicator", "call"]
    numbered = timeline.filter(pl.col("kind") == "collective").sort("rank", "start_s")
    numbered = numbered.with_columns(number=pl.int_range(pl.len()).over("rank", *order))
    last_s = pl.col("start_s").max()
    found = numbered.group_by(*order, "number").agg(
        ranks=pl.len(),
        start_s=pl.col("start_s").min(),
        spread_s=last_s - pl.col("start_s").min(),
        last_rank=pl.col("rank").sort_by("start_s").last(),
        waiting_s=(last_s - pl.col("start_s")).sum(),
    )
    return found.filter(pl.col("ranks") > 1).sort("start_s", *order)


def matched(timeline: pl.DataFrame) -> pl.DataFrame:
    """Each message that was sent and received in blocking calls, with what it waited for.

    Columns `source`, `target`, `communicator`, `tag`, `size_bytes`,
    `sent_s` and `received_s` (begin of the calls), `late_sender_s` (how long the receiver waited
    for the send to begin) and `late_receiver_s` (the sender for the receive).
    """
    keys = ["source", "target", "communicator", "tag"]
    sends = _numbered(timeline, "sent", ("rank", "partner"), keys)
    receives = _numbered(timeline, "received", ("partner", "rank"), keys)
    both = sends.join(receives, on=[*keys, "number"], suffix="_receive")
    late = pl.col("start_s") - pl.col("start_s_receive")
    waits = pl.col("call_receive").is_in(list(BLOCKING_RECEIVES))
    blocks = pl.col("call").is_in(list(BLOCKING_SENDS)) & (pl.col("waiting_s") > 0)
    in_receive = pl.min_horizontal(late, pl.col("end_s_receive") - pl.col("start_s_receive"))
    in_send = pl.min_horizontal(-late, pl.col("end_s") - pl.col("start_s"))
    return both.select(
        *keys,
        "size_bytes",
        sent_s="start_s",
        received_s="start_s_receive",
        late_sender_s=pl.when(waits).then(in_receive.clip(0)).otherwise(0.0),
        late_receiver_s=pl.when(blocks).then(in_send.clip(0)).otherwise(0.0),
    ).sort("sent_s", *keys)


def _numbered(
    timeline: pl.DataFrame, kind: str, ends: tuple[str, str], keys: list[str]
) -> pl.DataFrame:
    """The calls of one kind with their source, target, and number among their like."""
    source, target = ends
    some = timeline.filter((pl.col("kind") == kind) & (pl.col("partner") >= 0)).sort("start_s")
    named = some.with_columns(source=pl.col(source), target=pl.col(target))
    named = named.with_columns(number=pl.int_range(pl.len()).over(*keys))
    columns = ["number", "call", "size_bytes", "start_s", "end_s", "waiting_s"]
    return named.select(*keys, *columns)
