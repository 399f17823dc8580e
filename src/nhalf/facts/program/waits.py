"""Who waits for whom, and when: for a late sender, a late receiver, the last at a collective.

A rank waits from the begin of a call until another rank begins the call that it needs; what passes
after that moment is the message's or the operation's own time. A call that waits for several
messages waits for the last of them.
"""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.late_messages import matched
from nhalf.facts.program.operations import FROM_ROOT, TO_ROOT, is_non_blocking, operation
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import numbered
from nhalf.facts.program.waiting import COLLECTIVE_WAIT, LATE_RECEIVER, LATE_SENDER

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
    last = (
        rows.sort("start_s")
        .group_by(keys)
        .agg(last_s=pl.col("start_s").last(), last_rank=pl.col("rank").last())
    )
    roots = rows.filter(pl.col("rank") == pl.col("partner")).select(
        *keys, root_s="start_s", root_rank="rank"
    )
    joined = rows.join(last, on=keys).join(roots, on=keys, how="left")
    by_root = pl.col("call").is_in(from_root) & pl.col("root_s").is_not_null()
    only_sends = pl.col("call").is_in(to_root) & (pl.col("rank") != pl.col("partner"))
    return joined.filter(~only_sends).select(
        "rank",
        "call",
        cause=pl.lit(COLLECTIVE_WAIT),
        late_rank=pl.when(by_root).then("root_rank").otherwise("last_rank"),
        from_s="start_s",
        to_s=pl.min_horizontal(pl.when(by_root).then("root_s").otherwise("last_s"), "end_s"),
        end_s="end_s",
    )
