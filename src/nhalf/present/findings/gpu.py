"""Findings on messages from GPU memory: by which path they go, with the witness."""

from collections.abc import Iterator
from itertools import groupby

from msgspec.structs import replace

from nhalf.base.units import format_rate, format_size
from nhalf.facts.facts import Facts
from nhalf.facts.gpu import FASTER, STAGED, SaidPaths, Slope, said_paths, slopes
from nhalf.mpi.ucx_paths import WORDS
from nhalf.present.findings import Finder, Finding

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
