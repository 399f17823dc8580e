"""Is nhalf's ping-pong as fast as IMB's?"""

from __future__ import annotations

import statistics
from typing import Any

from benchmarks.pages import table
from benchmarks.programs import SIZES, Curve, imb, nhalf


def measure(runs: int) -> tuple[Any, str]:
    """One launch of each in turn."""
    theirs: list[Curve] = []
    ours: list[dict[int, dict[str, Any]]] = []
    for _ in range(runs):
        theirs.append(imb())
        ours.append({point["bytes"]: point for point in nhalf("--launches", "1")})
    rows = []
    for size in SIZES:
        imb_s = [curve[size] for curve in theirs]
        median_s = [points[size]["median_s"] for points in ours]
        lowest_s = [points[size]["lowest_s"] for points in ours]
        rows.append(
            {
                "bytes": size,
                "imb_median_s": statistics.median(imb_s),
                "nhalf_median_s": statistics.median(median_s),
                "median_ratio": statistics.median(median_s) / statistics.median(imb_s),
                "lowest_ratio": min(lowest_s) / min(imb_s),
            }
        )
    page = table(
        f"Ping-pong time: nhalf against IMB on the same library, {runs} launches of each in turn",
        "Ratios below 1 say that nhalf reports less time. IMB prints two decimals of a "
        "microsecond, so its smallest times are known to about 4 % only.",
        ["size (B)", "IMB (µs)", "nhalf (µs)", "median ratio", "ratio of lowest"],
        [
            [
                str(row["bytes"]),
                f"{row['imb_median_s'] * 1e6:.3f}",
                f"{row['nhalf_median_s'] * 1e6:.3f}",
                f"{row['median_ratio']:.3f}",
                f"{row['lowest_ratio']:.3f}",
            ]
            for row in rows
        ],
    )
    return rows, page
