"""Who waits for whom, and when: for a late sender, a late receiver, the last at a collective.

A rank waits from the begin of a call until another rank begins the call that it needs; what passes
after that moment is the message's or the operation's own time. A call that waits for several
messages waits for the last of them.

The tables of calls say how long each call waited. With a timeline the cause is known: a late
message was sent when its receiver was already waiting, or received when its sender was; a
collective is matched with the same call of the other ranks by its number in the communicator.

Sends are matched with receives in order for each pair, communicator and tag, which MPI guarantees.
A nonblocking receive waits from the beginning of the call that completed it.
"""

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.facts.fact import fact
from nhalf.facts.program.distinct import Whole
from nhalf.facts.program.operations import FROM_ROOT, TO_ROOT, CallForm, is_non_blocking, operation
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import call_forms, messages, numbered, pairing, threads

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


@fact
def waiting_by_cause(program: Program) -> pl.DataFrame:
    """Seconds by rank and cause: columns `rank`, `cause`, `waiting_s`.

    Waiting in MPI_Wait and its family counts as `completion`: only a timeline shows whose message
    it was for.
    """
    caused = program.calls.filter(pl.col("kind").is_in(list(_CAUSES))).with_columns(
        cause=pl.col("kind").replace_strict(list(_CAUSES), list(_CAUSES.values()), default="")
    )
    by_cause = caused.group_by("rank", "cause").agg(pl.col("waiting_s").sum())
    return by_cause.filter(pl.col("waiting_s") > 0).sort("rank", "cause")


@fact
def arrivals(program: Program) -> pl.DataFrame:
    """Each collective operation of a timeline: the last arrival, and its cost.

    Columns `communicator`, `call`, `number` in its communicator, `ranks`, `start_s` of the first,
    `spread_s` from the first to the last arrival, `last_rank`, `waiting_s` until the last arrival,
    summed over the others.
    """
    order = ["communicator", "call"]
    numbered = program.timeline.filter(pl.col("kind") == "collective").sort("rank", "start_s")
    numbered = numbered.with_columns(number=pl.int_range(pl.len()).over("rank", *order))
    last_s = pl.col("start_s").max()
    operations = numbered.group_by(*order, "number").agg(
        ranks=pl.len(),
        start_s=pl.col("start_s").min(),
        spread_s=last_s - pl.col("start_s").min(),
        last_rank=pl.col("rank").sort_by("start_s").last(),
        waiting_s=(last_s - pl.col("start_s")).sum(),
    )
    return operations.filter(pl.col("ranks") > 1).sort("start_s", *order)


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


@fact
def both_ends(program: Program) -> pl.LazyFrame:
    """The columns of `matched` in the order of messages, each made only where somebody asks."""
    calls, pairs = numbered(program).lazy(), messages(program)
    wait, late_sender_s = late_senders(program)
    sent, waited, received = (
        calls.select(**columns).select(pl.all().gather(rows))
        for rows, columns in (
            (pairs["row"], {"sends_in": "call", "sent_s": "start_s", "left_s": "end_s",
                            "sends_for_s": "waiting_s"}),
            (pl.Series(wait).replace(-1, None), {"waits_in": "call", "received_s": "start_s"}),
            (pairs["row_received"], {"posted_s": "start_s", "arrived_s": "end_s"}),
        )
    )  # fmt: skip
    columns = pairs.lazy().select("source", "target", "communicator", "tag", "size_bytes")
    blocks = pl.col("sends_in").is_in(list(BLOCKING_SENDS)) & (pl.col("sends_for_s") > 0)
    after = pl.col("posted_s") - pl.col("sent_s")
    in_send = pl.min_horizontal(after, pl.col("left_s") - pl.col("sent_s"))
    return pl.concat([columns, sent, waited, received], how="horizontal").select(
        pl.exclude("sends_for_s", "posted_s"),
        late_sender_s=pl.lit(pl.Series(late_sender_s)),
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


@fact
def late_senders(program: Program) -> tuple[Whole, Floats]:
    """By message: the row of the call in which its receiver only waits, -1 if there is none, and
    how long it did so until the send began, 0 if it did not.
    """
    calls, sent, received = numbered(program), pairing(program).sent, pairing(program).received
    start_s, end_s = (calls[name].to_numpy() for name in ("start_s", "end_s"))
    wait = _waits(calls, call_forms(program), threads(program))[received]
    received_s = start_s[wait]
    late_s = np.minimum(start_s[sent] - received_s, end_s[received] - received_s)
    late_s[wait < 0] = 0.0
    return wait, np.maximum(late_s, 0.0)


def _waits(
    calls: pl.DataFrame, known_forms: tuple[list[CallForm], Whole], threads: list[tuple[int, int]]
) -> Whole:
    """The row of the call from whose begin the rank of each call only waits: the call itself, or of
    a begun receive the wait that ends with it; -1 if there is none.
    """
    forms, form = known_forms
    start_s, end_s = (calls[name].to_numpy() for name in ("start_s", "end_s"))
    begins = [of.of_kind == "received" and of.call not in BLOCKING_RECEIVES for of in forms]
    is_begun = np.array(begins, bool)[form]
    is_wait = np.array([of.of_kind == "waiting" for of in forms], bool)[form]
    wait = np.arange(len(calls), dtype=np.int32)
    wait[is_begun] = -1
    for begin, end in threads:
        waits, begun = (begin + np.flatnonzero(rows[begin:end]) for rows in (is_wait, is_begun))
        waits = waits[np.lexsort((start_s[waits], end_s[waits]))]
        before = np.searchsorted(end_s[waits], end_s[begun], side="right")
        begun, last = begun[before > 0], waits[before[before > 0] - 1]
        is_end = end_s[last] == end_s[begun]
        wait[begun[is_end]] = last[is_end]
    return wait


WAITS: dict[str, pl.DataType] = {
    "rank": pl.Int32(),
    "cause": pl.String(),
    "call": pl.String(),
    "late_rank": pl.Int32(),
    "from_s": pl.Float64(),
    "to_s": pl.Float64(),
    "end_s": pl.Float64(),
}
"""`rank` waits in `call` from `from_s` to `to_s`, when `late_rank` begins its own; the call ends at
`end_s`. The waits of a rank do not overlap."""


@fact
def waits(program: Program) -> pl.DataFrame:
    """All waits for another rank in a timeline, by rank and time."""
    parts = [_for_senders(program), _for_receivers(program), _at_collectives(program)]
    rows = pl.concat(
        [part.select(pl.col(name).cast(kind) for name, kind in WAITS.items()) for part in parts]
    )
    rows = rows.filter(
        (pl.col("to_s") > pl.col("from_s")) & (pl.col("rank") != pl.col("late_rank"))
    )
    rows = rows.sort("rank", "from_s", "to_s").unique(
        ["rank", "from_s"], keep="last", maintain_order=True
    )
    # Threads of a rank may wait at once.
    before_s = pl.col("to_s").cum_max().shift(1).over("rank")
    return rows.filter(before_s.is_null() | (pl.col("from_s") >= before_s))


@fact
def _for_senders(program: Program) -> pl.DataFrame:
    late = matched(program).filter(pl.col("late_sender_s") > 0)
    return late.select(
        rank="target",
        cause=pl.lit(LATE_SENDER),
        call="waits_in",
        late_rank="source",
        from_s="received_s",
        to_s=pl.min_horizontal("sent_s", "arrived_s"),
        end_s="arrived_s",
    )


@fact
def _for_receivers(program: Program) -> pl.DataFrame:
    """Blocking sends that ended after their receive began; one that ended before waited for
    something else.
    """
    is_late = (pl.col("late_receiver_s") > 0) & (pl.col("received_s") < pl.col("left_s"))
    return (
        matched(program)
        .filter(is_late)
        .select(
            rank="source",
            cause=pl.lit(LATE_RECEIVER),
            call="sends_in",
            late_rank="target",
            from_s="sent_s",
            to_s="received_s",
            end_s="left_s",
        )
    )


@fact
def _at_collectives(program: Program) -> pl.DataFrame:
    """Each rank's wait for the last one; for the root only, or by the root only, where it is so."""
    rows = numbered(program).filter(pl.col("kind") == "collective")
    names = rows["call"].unique().to_list()
    blocking = [call for call in names if not is_non_blocking(call)]
    from_root = [call for call in blocking if operation(call) in FROM_ROOT]
    to_root = [call for call in blocking if operation(call) in TO_ROOT]
    rows = rows.filter(pl.col("call").is_in(blocking))
    keys = ["communicator", "number", "call"]
    last_s = pl.col("start_s").last()
    last = rows.sort("start_s").group_by(keys).agg(last_s=last_s, last_rank=pl.col("rank").last())
    roots = rows.filter(pl.col("rank") == pl.col("partner")).select(
        *keys, root_s="start_s", root_rank="rank"
    )
    joined = rows.join(last, on=keys).join(roots, on=keys, how="left")
    by_root = pl.col("call").is_in(from_root) & pl.col("root_s").is_not_null()
    only_sends = pl.col("call").is_in(to_root) & (pl.col("rank") != pl.col("partner"))
    cause = pl.lit(COLLECTIVE_WAIT)
    late_rank = pl.when(by_root).then("root_rank").otherwise("last_rank")
    to_s = pl.min_horizontal(pl.when(by_root).then("root_s").otherwise("last_s"), "end_s")
    return joined.filter(~only_sends).select(
        "rank", "call", cause=cause, late_rank=late_rank, from_s="start_s", to_s=to_s, end_s="end_s"
    )
