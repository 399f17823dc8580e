"""Findings on GPUs: the paths of messages from their memory, and what NCCL takes and costs."""

from collections.abc import Iterator
from itertools import groupby, takewhile

from msgspec.structs import replace

from nhalf.base.listing import listed, ranks_text
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.gpu import FASTER, STAGED, SaidPaths, Slope, said_paths, slopes
from nhalf.facts.nccl import nccl_curves, nccl_phases
from nhalf.mpi.ucx_paths import WORDS
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import exact_size

WHAT_RATES_TELL = {
    STAGED: "as fast as a copy to the host and one from it, one after the other: it stages there",
    FASTER: "faster than any copy to the host: it does not go through memory of the host",
}


class GpuPaths(Finder[Facts]):
    """The path of each size, as UCX said, or as the rate of long messages tells."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for of_subject in said_paths(facts):
            yield _said(facts, of_subject)
        for slope in slopes(facts):
            if slope.verdict:
                yield _slope(facts, slope)


def _said(facts: Facts, of_subject: SaidPaths) -> Finding:
    parts = []
    for kind, group in groupby(of_subject.paths, key=lambda path: path.kind):
        paths = list(group)
        first, last = paths[0], paths[-1]
        sizes = replace(first, high_bytes=last.high_bytes).sizes
        parts.append(f"{sizes} {WORDS[kind]} ({last.protocol}, {last.lanes})")
    kinds = "; ".join(parts)
    title = facts.titles.get(of_subject.subject, of_subject.subject)
    text = f"{title} sends messages from GPU memory of {kinds}, as UCX said when they were tried."
    label = "Path from GPU memory"
    figure = of_subject.paths[-1].kind
    return Finding(text, 55, "gpu-path", pattern="pingpong", label=label, figure=figure)


def _slope(facts: Facts, slope: Slope) -> Finding:
    mpi = slope.subject["mpi"] or slope.subject["transport"]
    text = (
        f"Messages of {format_size(slope.size_bytes)} between GPUs on {facts.titles.get(mpi, mpi)} "
        f"reach {format_rate(slope.rate_Bps)}, {WHAT_RATES_TELL[slope.verdict]} "
        f"({format_rate(slope.staged_Bps)} by the copies that were measured)."
    )
    label = "Path from GPU memory"
    return Finding(text, 54, "gpu-path-rate", pattern="pingpong", label=label, figure=slope.verdict)


IMPORTANCE = 42
"""Beside protocol switches, whose cause they may be."""
MOSTLY = 0.5
"""Where the GPU certainly works for a smaller share of the time, launch and wait are the cost."""


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


class NcclBeside(Finder[Facts]):
    """Operations of which launch and wait are the larger part, and up to which size."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for curve in nccl_phases(facts):
            mostly = takewhile(lambda times: times.device_share.high < MOSTLY, curve.times)
            beside = [] if curve.in_slices else list(mostly)
            if not beside:
                continue
            least, up_to_bytes = beside[0], beside[-1].size_bytes
            works_s, knows_s = least.device_done.median, least.host_knows.median
            all_sizes = len(beside) == len(curve.times)
            where = "at every size" if all_sizes else f"up to {exact_size(up_to_bytes)}"
            yield Finding.of(
                curve,
                f"{curve.series}: {curve.name} on {ranks_text(curve.ranks)} is mostly launch and "
                f"wait {where}: the host knows the end of {exact_size(least.size_bytes)} after "
                f"{format_time(knows_s)}, of which the GPU works {format_time(works_s)}.",
                IMPORTANCE - 1,
                "nccl-beside",
                "Launch and wait",
                figure=format_time(knows_s - works_s),
                size_bytes=up_to_bytes,
            )
