"""What NCCL takes for collective operations, and when these are over, size by size.

NCCL tells a profiler plug-in algorithm, protocol and channels: values of a point whose names end in
`_channels`. When an operation is over has three definitions, of which a point has the medians of
rank 0 (native/transports/nccl/phases.hpp).
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import full_name, with_series
from nhalf.statistics.intervals import Interval, launch_intervals
from nhalf.store.keys import RUN_CURVE, RUN_POINT, value

PHASES = ("host_returns_s", "device_done_s", "host_knows_s")
_NAME = re.compile(r"nccl_(.+)_([^_]+)_channels")


@dataclass(frozen=True)
class NcclChoice:
    """What NCCL took, by the words of NCCL_ALGO and NCCL_PROTO: RING, LL128."""

    algorithm: str
    protocol: str
    channels: int

    @property
    def title(self) -> str:
        """RING/LL128."""
        return f"{self.algorithm}/{self.protocol}"


@dataclass(frozen=True)
class NcclCurve:
    """The choices along a curve: from which size on each was taken, in bytes.

    A size has several where launches differ.
    """

    series: str
    name: str
    mpi: str
    pattern: str
    ranks: int
    steps: Sequence[tuple[int, str]]


def choices(point: Mapping[str, Any]) -> list[NcclChoice]:
    """What was taken in the launches of a point, each once; none where NCCL did not tell."""
    matches = [(_NAME.fullmatch(item["name"]), item["value"]) for item in point["values"] or []]
    return [
        NcclChoice(match[1].upper(), match[2].upper(), int(channels or 0))
        for match, channels in matches
        if match
    ]


@fact
def nccl_curves(facts: Facts) -> Iterator[NcclCurve]:
    """Every curve of which NCCL told what it took."""
    points = with_series(facts.summary.filter(pl.col("transport") == "nccl"), facts)
    for _, curve in points.sort("bytes").group_by(*RUN_CURVE, maintain_order=True):
        steps: list[tuple[int, str]] = []
        for point in curve.iter_rows(named=True):
            title = " or ".join(choice.title for choice in choices(point))
            if title and (not steps or steps[-1][1] != title):
                steps.append((point["bytes"], title))
        if steps:
            row = curve.row(0, named=True)
            yield NcclCurve(
                row["series"], full_name(row), row["mpi"], row["pattern"], row["ranks"], steps
            )


@dataclass(frozen=True)
class NcclTimes:
    """When an operation is over at rank 0, seconds: until the call returns, between events on the
    GPU, and until the host knows; `device_share` is the second over the third.
    """

    size_bytes: int
    host_returns: Interval
    device_done: Interval
    host_knows: Interval
    device_share: Interval


@dataclass(frozen=True)
class NcclPhases:
    """The times of an operation by size; in time slices if ranks share a GPU."""

    series: str
    name: str
    mpi: str
    pattern: str
    ranks: int
    in_slices: bool
    times: Sequence[NcclTimes]


@fact
def nccl_phases(facts: Facts) -> Iterator[NcclPhases]:
    """Every curve whose points have three times, of launches in the reported state."""
    nccl = pl.col("transport") == "nccl"
    values = [value(name) for name in PHASES]
    timed = facts.measurements.with_row_index("row").filter(nccl).select("row", *values)
    counted = facts.stated.filter("counts", nccl).lazy().join(timed, on="row").drop_nulls(PHASES)
    by_launch = counted.group_by(*RUN_POINT, "launch").agg(
        *(pl.col(name).median() for name in PHASES),
        in_slices=pl.col("advice").list.contains("shared-gpu").any(),
    )
    points = with_series(by_launch.collect(), facts).sort(*RUN_POINT, "launch")
    for _, curve in points.group_by(RUN_CURVE, maintain_order=True):
        row = curve.row(0, named=True)
        sizes = curve.group_by("bytes", maintain_order=True)
        yield NcclPhases(
            row["series"],
            full_name(row),
            row["mpi"],
            row["pattern"],
            row["ranks"],
            row["in_slices"],
            [_times(int(str(size_bytes)), launches) for (size_bytes,), launches in sizes],
        )


def _times(size_bytes: int, launches: pl.DataFrame) -> NcclTimes:
    times_s = launches.select(PHASES).to_numpy().T
    matrix = np.vstack([times_s, times_s[1] / times_s[2]])
    median, *ends = launch_intervals(matrix)
    # A single launch says nothing of others.
    low, high = ends if launches.height > 1 else np.full((2, len(matrix)), np.nan)
    return NcclTimes(size_bytes, *map(Interval, median, low, high))
