"""How often does the interval of a default run hold what the next run reports?"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from typing import Any

from benchmarks.pages import table, width
from benchmarks.programs import SIZES, Curve, imb, nhalf

Points = dict[tuple[str, int], dict[str, Any]]


def measure(runs: int) -> tuple[Any, str]:
    """Default runs of Open MPI and Intel MPI, in turn with IMB on the latter."""
    ours: list[Points] = []
    theirs: list[Curve] = []
    for _ in range(runs):
        points = nhalf("--mpi", "openmpi,intel")
        ours.append({(point["mpi"], point["bytes"]): point for point in points})
        theirs.append(imb())
    libraries = sorted({library for points in ours for library, _ in points})
    figures = {"runs": runs, "libraries": [_figures(library, ours) for library in libraries]}
    spreads = _spreads(libraries, ours, theirs)
    quarter = sum(row["spread"] <= row["imb_spread"] / 4 for row in spreads)
    figures |= {"spreads": spreads, "quarter": quarter}
    return figures, _page(figures, spreads)


def _figures(library: str, ours: Sequence[Points]) -> dict[str, Any]:
    """How often the next value of a library was covered, in the same state of the machine."""
    same = covered = elsewhere = 0
    widths = []
    for this, following in itertools.pairwise(ours):
        for size in SIZES:
            one, other = this[library, size], following[library, size]
            if not in_same_state(one, other):
                elsewhere += 1
                continue
            same += 1
            covered += one["ci_low_s"] <= other["median_s"] <= one["ci_high_s"]
            widths.append(one["ci_high_s"] / one["median_s"] - 1)
    return {
        "library": library,
        "pairs": same,
        "covered": covered / same if same else math.nan,
        "in_another_state": elsewhere,
        "half_width": sorted(widths)[len(widths) // 2] if widths else math.nan,
    }


def in_same_state(one: dict[str, Any], other: dict[str, Any]) -> bool:
    """Whether a flag between two cores took about the same beside both, or was missed by both."""
    from nhalf.statistics.state_groups import APART

    flags_s = (one["state_s"], other["state_s"])
    if None in flags_s:
        return flags_s == (None, None)
    return bool(max(flags_s) < APART * min(flags_s))


def _spreads(
    libraries: Sequence[str], ours: Sequence[Points], theirs: Sequence[Curve]
) -> list[dict[str, Any]]:
    """Spread of what is reported of the library that IMB ran on, too, by size."""
    (library,) = (name for name in libraries if name.startswith("intel"))
    return [
        {
            "bytes": size,
            "spread": width([points[library, size]["median_s"] for points in ours]),
            "imb_spread": width([curve[size] for curve in theirs]),
        }
        for size in SIZES
    ]


def _page(figures: dict[str, Any], spreads: Sequence[dict[str, Any]]) -> str:
    """The figures in words, and the spreads by size."""
    lines = [
        f"{one['library']}: {one['covered']:.1%} of {one['pairs']} values of the next run in the "
        f"same state lie within the interval (whose half-width is {one['half_width']:.1%} in the "
        f"middle); {one['in_another_state']} were measured in another state."
        for one in figures["libraries"]
    ]
    lines.append(
        f"The reported value spreads at most a quarter as much as IMB's at {figures['quarter']} of "
        f"{len(spreads)} sizes."
    )
    return table(
        f"What the next run reports, over {figures['runs']} default runs",
        "\n\n".join(lines),
        ["size (B)", "IMB", "nhalf"],
        [[str(r["bytes"]), f"{r['imb_spread']:.1%}", f"{r['spread']:.1%}"] for r in spreads],
    )
