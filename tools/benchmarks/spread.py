"""How far do repeated default runs differ?"""

from __future__ import annotations

import itertools
import math
from typing import Any

from benchmarks.pages import table, width
from benchmarks.programs import SIZES, Curve, imb, nhalf


def measure(runs: int) -> tuple[Any, str]:
    """Runs of both in turn."""
    theirs: list[Curve] = []
    ours: list[dict[int, dict[str, Any]]] = []
    for _ in range(runs):
        theirs.append(imb())
        ours.append({point["bytes"]: point for point in nhalf()})
    rows = []
    covered = pairs = 0
    for size in SIZES:
        imb_spread = width([curve[size] for curve in theirs])
        our_spread = width([points[size]["median_s"] for points in ours])
        rows.append({"bytes": size, "imb_spread": imb_spread, "nhalf_spread": our_spread})
        for this, following in itertools.pairwise(ours):
            pairs += 1
            low, high = this[size]["ci_low_s"], this[size]["ci_high_s"]
            covered += low <= following[size]["median_s"] <= high
    middle = rows[len(rows) // 10 : len(rows) - len(rows) // 10]
    halved = sum(row["nhalf_spread"] <= row["imb_spread"] / 2 for row in middle)
    share = covered / pairs if pairs else math.nan
    figures = {"runs": runs, "sizes": rows, "halved": halved, "of": len(middle), "covered": share}
    page = table(
        f"Spread (max/min - 1) of the reported time over {runs} runs of each in turn",
        f"nhalf spreads at most half as much as IMB at {halved} of the middle {len(middle)} sizes. "
        f"Its interval holds the value of the next run in {share:.1%} of {pairs} cases.",
        ["size (B)", "IMB", "nhalf"],
        [
            [str(row["bytes"]), f"{row['imb_spread']:.1%}", f"{row['nhalf_spread']:.1%}"]
            for row in rows
        ],
    )
    return figures, page
