# SPDX-License-Identifier: Apache-2.0
"""How much of a message's time is the processors' own, and whether the rest can be told."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nhalf.findings import Finder, Finding
from nhalf.findings._words import percent
from nhalf.panels import ReportData
from nhalf.panels.logp import with_series
from nhalf.units import format_time

BUSY = 0.5
"""Processors that work for more than this share of a message's time are worth a finding."""


class Busy(Finder):
    def find(self, data: ReportData) -> Iterator[Finding]:
        for row in with_series(data):
            if row["identifiable"] is False:
                yield _unknown(row)
            elif row["busy_share_ci"] is not None and row["busy_share_ci"][0] > BUSY:
                yield _busy(row)


def _busy(row: dict[str, Any]) -> Finding:
    share, (low, high) = row["busy_share"], row["busy_share_ci"]
    send, receive, half = (
        format_time(row[name])
        for name in ("send_overhead_s", "recv_overhead_s", "half_round_trip_s")
    )
    return Finding(
        f"{row['series']} keeps processors busy for {percent(share)} of the time that a small "
        f"message takes (interval {percent(low)} to {percent(high)}): {send} to send and {receive} "
        f"to receive it, of {half}. Computing meanwhile hides at most the rest.",
        importance=42 + 10 * min(1.0, share),
        kind="processors-busy",
        label="Busy processors",
        remedy="Fewer, larger messages cost the processors less.",
        figure=percent(share),
        value=share,
        low=low,
        high=high,
        mpi=row["mpi"],
        pattern="overhead-send",
        size_bytes=1,
    )


def _unknown(row: dict[str, Any]) -> Finding:
    return Finding(
        f"{row['series']}: {row['doubts'][0]}.",
        importance=32,
        kind="latency-unknown",
        label="LogP",
        figure=format_time(row["half_round_trip_s"]),
        mpi=row["mpi"],
        pattern="roundtrip",
        size_bytes=0,
    )
