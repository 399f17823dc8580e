# SPDX-License-Identifier: Apache-2.0
"""The processors' share of a message's time, and whether the rest is identifiable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from nhalf.base.numbers import percent
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.series import logp_rows
from nhalf.present.findings import Finder, Finding

BUSY = 0.5
"""Reported if processors are busy for more than this share of a message's time."""


class Busy(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        rows = logp_rows(facts)
        unknown = [row for row in rows if row["identifiable"] is False]
        if unknown:
            yield _unknown(unknown)
        for row in rows:
            share = row.get("busy_share_ci")
            if row["identifiable"] and share is not None and share[0] > BUSY:
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


def _unknown(rows: list[dict[str, Any]]) -> Finding:
    """Libraries whose latency is not identifiable, in one finding; the panel has the reasons."""
    sums = ", ".join(
        f"{row['series']} {format_time(row['half_round_trip_s'])} ({_ends(row)})" for row in rows
    )
    first = rows[0]
    return Finding(
        "The latency L of LogP, without the work of the processors, cannot be distinguished "
        f"from 0; use half a round trip, the sum L + o_s + o_r, instead: {sums}.",
        importance=32,
        kind="latency-unknown",
        label="LogP",
        figure=format_time(first["half_round_trip_s"]),
        mpi=first["mpi"],
        pattern="roundtrip",
        size_bytes=0,
    )


def _ends(row: dict[str, Any]) -> str:
    low_s, high_s = row["half_round_trip_s_ci"]
    return f"{format_time(low_s)} to {format_time(high_s)}"
