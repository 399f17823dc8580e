"""Findings on what NCCL takes for its collective operations."""

from collections.abc import Iterator

from nhalf.base.listing import listed, ranks_text
from nhalf.facts.facts import Facts
from nhalf.facts.nccl import nccl_curves
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import exact_size

IMPORTANCE = 42
"""Beside protocol switches, whose cause they may be."""


class NcclTakes(Finder[Facts]):
    """Algorithm and protocol of NCCL, and the sizes from which on it takes others."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for curve in nccl_curves(facts):
            (_, first), *later = curve.steps
            changes = [f"from {exact_size(size_bytes)} on {title}" for size_bytes, title in later]
            yield Finding.of(
                curve,
                f"{curve.series}: {curve.name} on {ranks_text(curve.ranks)} takes "
                f"{listed([first, *changes])}, as NCCL says.",
                IMPORTANCE,
                "nccl-takes",
                "NCCL takes",
                figure=curve.steps[-1][1],
                size_bytes=curve.steps[-1][0],
            )
