# SPDX-License-Identifier: Apache-2.0
"""The pair of ranks in which one waits longest for the other's messages."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent
from nhalf.base.units import format_size, format_time
from nhalf.facts.program.late_messages import late_pairs
from nhalf.facts.program.program import Program
from nhalf.facts.program.waiting import LATE_SENDER
from nhalf.present.findings import Finder, Finding

SHARE_MIN = 0.03


class LateMessages(Finder[Program]):
    """With a timeline: the late rank, the number of messages, and the worst of them."""

    def find(self, program: Program) -> Iterator[Finding]:
        if not program.is_timed or late_pairs(program).is_empty() or program.elapsed_s <= 0:
            return
        row = late_pairs(program).row(0, named=True)
        share = row["waiting_s"] / program.elapsed_s
        if share < SHARE_MIN:
            return
        is_sender = row["cause"] == LATE_SENDER
        does = "sends" if is_sender else "receives"
        way = "from" if is_sender else "to"
        yield Finding(
            f"Rank {row['late_rank']} {does} late: rank {row['rank']} waits "
            f"{format_time(row['waiting_s'])} ({percent(share)} of the run) for "
            f"{row['messages']} of {row['of_messages']} messages {way} it, "
            f"{format_time(row['longest_s'])} for the worst ({format_size(row['size_bytes'])}, "
            f"{format_time(row['from_s'])} after the start).",
            importance=58,
            kind="late-messages",
            remedy=f"Look at what rank {row['late_rank']} does beforehand: nhalf export TRACE --to "
            "chrome shows it beside the others.",
            value=share,
            label="Late messages",
            figure=percent(share),
        )
