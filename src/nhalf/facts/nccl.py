"""What NCCL takes for collective operations: algorithm, protocol and channels, size by size.

NCCL tells a profiler plug-in so, and a point has it as a value whose name ends in `_channels`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import full_name, with_series
from nhalf.store.keys import RUN_CURVE

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
