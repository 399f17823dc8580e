"""Findings on what keeps ranks from their processors, and what it costs a message."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

import polars as pl

from nhalf.base.carrier import carrier
from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN
from nhalf.present.findings import Finder, Finding
from nhalf.statistics.intervals import Interval
from nhalf.store.keys import RUN_SUBJECT

SHARE_LEAST = 0.001
"""What others take is reported from this share of the time on."""
MESSAGE_BYTES = 1 << 20


class Interruptions(Finder[Facts]):
    """How long and how often rank 0 is interrupted, and by how much that lengthens a message."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        rows = facts.results.get("interruptions", [])
        for subject, spectrum in groupby(rows, key=lambda row: [row[name] for name in RUN_SUBJECT]):
            lengths = list(spectrum)
            intervals = [row["share_ci"] for row in lengths if "share_ci" in row]
            low, high = (
                (sum(ends) for ends in zip(*intervals, strict=True)) if intervals else (0.0, 0.0)
            )
            if low >= SHARE_LEAST:
                share = Interval(sum(row["share"] for row in lengths), low, high)
                most = max(lengths, key=lambda row: float(row["share"]))
                place = dict(zip(RUN_SUBJECT, subject, strict=True))
                yield _finding(facts, place, most, share)


def _finding(facts: Facts, place: Row, most: Row, share: Interval) -> Finding:
    where = carrier(place["mpi"], place["transport"])
    return Finding(
        f"{where}, {place['ranks']} ranks: others take rank 0's processor for "
        f"{percent(share.median, 1)} of the time, most of it {format_time(most['length_s'])} long"
        f" every {format_time(most['apart_s'])}{_message(facts, place, most, share)}.",
        importance=35,
        kind="interruptions",
        label="Interruptions",
        interval=share,
        mpi=place["mpi"],
    )


def _message(facts: Facts, place: Row, most: Row, share: Interval) -> str:
    """What that costs the longest message up to MESSAGE_BYTES; '' if none was measured."""
    sent = facts.summary.filter(
        *(pl.col(name) == place[name] for name in ("run", "transport", "mpi")),
        (pl.col("pattern") == MAIN_PATTERN) & (pl.col("axes") == "") & (pl.col("median_s") > 0),
        pl.col("bytes") <= MESSAGE_BYTES,
    ).sort("bytes")
    if sent.is_empty() or share.high >= 1:
        return ""
    message = sent.row(-1, named=True)
    meets = min(message["median_s"] / most["apart_s"], 1.0)
    longer = percent(share.median / (1 - share.median), 1)
    return (
        f"; a message of {format_size(message['bytes'])} meets one in {percent(meets, 1)} of all "
        f"cases, and takes {longer} longer on average if a processor moves its bytes"
    )
