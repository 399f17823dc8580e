"""Whether a stencil is swept: the order of messages distinguishes a wavefront from an exchange.

In an exchange, a rank receives from a neighbour before it sends to it again. In a sweep, it sends
downstream many times, once for each plane, before it receives from there, and receives from
upstream in between. Counts are the same, so this needs a timeline.
"""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program

AGAIN_SHARE = 0.8
"""The share of sends that must follow another to the same rank without an answer."""
FED_SHARE = 0.4
"""The share of sends that must follow a message from another rank: the first ranks get none."""


@fact
def is_swept(program: Program) -> bool:
    """Whether the point-to-point messages of the timeline are those of sweeps."""
    kinds = ["sent", "received"]
    events = program.timeline.filter(pl.col("kind").is_in(kinds) & (pl.col("partner") >= 0))
    if events.is_empty():
        return False
    is_sent = pl.col("kind") == "sent"
    at = pl.when(is_sent).then("start_s").otherwise("end_s")
    ordered = events.select("rank", "partner", sent=is_sent, at=at).sort("rank", "at", "sent")
    received_before = (~pl.col("sent")).cast(pl.Int64).cum_sum().over("rank")
    ordered = ordered.with_columns(heard=received_before).sort("rank", "partner", "at", "sent")
    pair = ["rank", "partner"]
    again = pl.col("sent") & pl.col("sent").shift(1).over(pair).fill_null(value=False)
    fed = again & (pl.col("heard") > pl.col("heard").shift(1).over(pair))
    sends, repeated, between = ordered.select(
        pl.col("sent").sum(), again.sum().alias("again"), fed.sum().alias("fed")
    ).row(0)
    return bool(sends and repeated >= AGAIN_SHARE * sends and between >= FED_SHARE * sends)
