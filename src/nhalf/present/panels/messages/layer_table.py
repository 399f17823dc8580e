# SPDX-License-Identifier: Apache-2.0
"""Latency, rate, n½ and collective operations of libraries and layers, side by side."""

from __future__ import annotations

import math

import polars as pl

from nhalf.base.listing import ranks_text
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.layers import CLASSIC_PATTERNS, has_layers
from nhalf.facts.overview import LibraryOverview, overview
from nhalf.facts.series import library_label
from nhalf.present.panels import Panel, Table

PATTERNS = (*CLASSIC_PATTERNS, "barrier")


class LayerTable(Panel[Facts]):
    title = "Layers side by side"
    how_to_read = (
        "Each row is a library or a layer: the time of its smallest message, its highest rate, the "
        "size at which it reaches half of it (n½), and the times of operations of several ranks "
        "at their smallest size; – means not measured."
    )
    order = 16

    def render(self, facts: Facts) -> Table | None:
        if not has_layers(facts):
            return None
        points = facts.whole.filter((pl.col("axes") == "") & (pl.col("median_s") > 0))
        patterns = [name for name in PATTERNS if name in points["pattern"].to_list()]
        titles = [_title(points, name) for name in patterns]
        rows = []
        for (transport, mpi), frame in sorted(points.group_by("transport", "mpi")):
            name = library_label(facts, str(transport), str(mpi))
            times = [_smallest(frame, points, pattern) for pattern in patterns]
            rows.append([name, *_message(facts, name, str(mpi)), *times])
        columns = ["library or layer", "latency", "peak rate", "n½", *titles]
        return Table(columns, rows) if rows else None


def _setting(points: pl.DataFrame, pattern: str) -> dict[str, int]:
    """The smallest size of a pattern, on most ranks."""
    frame = points.filter(pl.col("pattern") == pattern)
    return {"bytes": int(str(frame["bytes"].min())), "ranks": int(str(frame["ranks"].max()))}


def _title(points: pl.DataFrame, pattern: str) -> str:
    where = _setting(points, pattern)
    size = f", {format_size(where['bytes'])}" if where["bytes"] else ""
    return f"{pattern}, {ranks_text(where['ranks'])}{size}"


def _smallest(frame: pl.DataFrame, points: pl.DataFrame, pattern: str) -> str:
    """The time of one library or layer in the setting of the table; its own algorithm first."""
    chosen = frame.filter(pattern=pattern, **_setting(points, pattern))
    times_s = chosen.sort("algorithm", nulls_last=True)["median_s"].to_list()
    return format_time(times_s[0]) if times_s else "–"


def _message(facts: Facts, name: str, mpi: str) -> list[str]:
    """Latency, peak rate and n½ of the first curve of a library or layer."""
    curve = next((entry for entry in overview(facts) if _is_about(entry, name, mpi)), None)
    if curve is None:
        return ["–", "–", "–"]
    half = curve.n_half_bytes
    return [
        format_time(curve.latency_s),
        format_rate(curve.peak_Bps),
        format_size(round(half)) if math.isfinite(half) else "–",
    ]


def _is_about(entry: LibraryOverview, name: str, mpi: str) -> bool:
    """Whether an entry of the overview is about a library or layer: its name leads the series."""
    return entry.mpi == mpi and f"{entry.series}, ".startswith(f"{name}, ")
