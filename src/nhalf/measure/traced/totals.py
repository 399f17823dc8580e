# SPDX-License-Identifier: Apache-2.0
"""A trace in a few lines: totals of all ranks by call."""

from __future__ import annotations

from typing import Any

import polars as pl

from nhalf.measure.traced.tables import TraceFolder


def totals(traced: TraceFolder) -> list[dict[str, Any]]:
    """Sum count, bytes, time and waiting of each call and kind, the longest first."""
    sums = [pl.col(name).sum() for name in ("count", "bytes", "time_s", "waiting_s")]
    frame = traced.table("calls").group_by("call", "kind").agg(sums).collect()
    return frame.sort("time_s", "call", descending=[True, False]).to_dicts()
