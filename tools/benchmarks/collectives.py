"""Are nhalf's collectives as fast as IMB's t_max?"""

from __future__ import annotations

import statistics
import tempfile
from typing import Any

from benchmarks.pages import table
from benchmarks.programs import imb_text, nhalf

COLLECTIVES = {"Bcast": "bcast", "Allreduce": "allreduce", "Alltoall": "alltoall",
               "Reduce": "reduce", "Barrier": "barrier"}  # fmt: skip
COLLECTIVE_SIZES = (4, 64, 1024, 16384, 262144, 1048576)
Cell = tuple[str, int]


def imb_collectives() -> dict[Cell, float]:
    """The t_max of IMB's collectives in seconds, by pattern and size."""
    with tempfile.NamedTemporaryFile("w", suffix=".sizes") as sizes:
        sizes.write("".join(f"{size}\n" for size in COLLECTIVE_SIZES))
        sizes.flush()
        text = imb_text(*COLLECTIVES, "-msglen", sizes.name)
    found: dict[Cell, float] = {}
    pattern = ""
    for line in text.splitlines():
        words = line.split()
        if line.startswith("# Benchmarking"):
            pattern = COLLECTIVES[words[2]]
        elif len(words) == 5 and words[0].isdigit():
            found[pattern, int(words[0])] = float(words[3]) * 1e-6
        elif len(words) == 4 and pattern == "barrier" and words[0].isdigit():
            found[pattern, 0] = float(words[2]) * 1e-6
    return found


def our_collectives(start: str) -> dict[Cell, float]:
    """Our times of one launch, by pattern and size, started as asked."""
    points = nhalf(
        "--pattern", ",".join(COLLECTIVES.values()), "--launches", "1", "--budget", "2s",
        "--axis", f"start={start}", "--axis", "buffers=warm", "--axis", "call=steady",
        "--axis", "place=out", sizes=",".join(map(str, COLLECTIVE_SIZES)),
    )  # fmt: skip
    return {(point["pattern"], point["bytes"]): point["median_s"] for point in points}


def measure(runs: int) -> tuple[Any, str]:
    """One launch of each in turn."""
    theirs, together, after_barrier = [], [], []
    for _ in range(runs):
        theirs.append(imb_collectives())
        together.append(our_collectives("sync"))
        after_barrier.append(our_collectives("barrier"))
    rows: list[dict[str, Any]] = []
    for pattern, size in sorted(theirs[0]):
        imb_s, sync_s, barrier_s = (
            statistics.median(curve[pattern, size] for curve in curves)
            for curves in (theirs, together, after_barrier)
        )
        times = {"imb_s": imb_s, "sync_s": sync_s, "barrier_s": barrier_s}
        lowest = [min(curve[pattern, size] for curve in curves) for curves in (together, theirs)]
        ratios = {"median_ratio": sync_s / imb_s, "lowest_ratio": lowest[0] / lowest[1]}
        rows.append({"pattern": pattern, "bytes": size, **times, **ratios})
    page = table(
        f"Collectives, 2 ranks: nhalf against IMB's t_max, {runs} launches of each in turn",
        "nhalf starts all ranks at one time of a synchronised clock and counts from the first "
        "start to the last end; IMB counts from each rank's own exit from a barrier. The fourth "
        "column is nhalf started IMB's way: what differs between it and the third is the skew of "
        "the barrier. IMB's barriers follow each other at once, so that one begins while the last "
        "is still ending; a barrier by itself takes longer. Times are medians over launches, the "
        "last column compares the fastest launch of each: on a machine that changes its state, "
        "launches of the same state. IMB prints two decimals of a microsecond.",
        [
            "operation",
            "size (B)",
            "IMB (µs)",
            "nhalf (µs)",
            "nhalf after a barrier (µs)",
            "median ratio",
            "ratio of lowest",
        ],
        [
            [
                row["pattern"],
                str(row["bytes"]),
                *(f"{row[name] * 1e6:.3f}" for name in ("imb_s", "sync_s", "barrier_s")),
                f"{row['median_ratio']:.3f}",
                f"{row['lowest_ratio']:.3f}",
            ]
            for row in rows
        ],
    )
    return rows, page
