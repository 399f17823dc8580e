"""How long does a whole curve take?"""

from __future__ import annotations

import time
from typing import Any

from benchmarks.pages import table
from benchmarks.programs import SIZES, nhalf


def measure(runs: int) -> tuple[Any, str]:
    """24 sizes, 5 launches, thrice at most."""
    seconds, widths = [], []
    for _ in range(max(1, min(runs, 3))):
        began_s = time.monotonic()
        points = nhalf("--launches", "5")
        seconds.append(time.monotonic() - began_s)
        halves = [(p["ci_high_s"] - p["ci_low_s"]) / 2 / p["median_s"] for p in points]
        widths.append(sum(half <= 0.03 for half in halves))
    figures = {"seconds": seconds, "sizes": len(SIZES), "within_3_percent": widths}
    page = table(
        "Time of a whole curve: 24 sizes from 0 to 4 MiB, 5 launches, one library",
        "Start-up of Python included; the last column counts sizes whose interval is within 3 %.",
        ["run", "seconds", "within 3 %"],
        [
            [str(index + 1), f"{second:.1f}", f"{count} of {len(SIZES)}"]
            for index, (second, count) in enumerate(zip(seconds, widths, strict=True))
        ],
    )
    return figures, page
