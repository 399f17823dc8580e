"""Findings on a node: its caches, units and GPUs, and loops beside their bounds."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby, takewhile
from statistics import fmean, median

from msgspec.structs import replace

from nhalf.base.listing import listed, ranks_text
from nhalf.base.numbers import fixed, format_number, percent
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.gpu import FASTER, STAGED, SaidPaths, Slope, said_paths, slopes
from nhalf.facts.nccl import nccl_curves, nccl_phases
from nhalf.facts.node import NodeFacts, Roof, nodes, roofs
from nhalf.loops.livermore.titles import PATTERN
from nhalf.mpi.ucx_paths import WORDS
from nhalf.node.bandwidth import MEMORY
from nhalf.node.levels import UNSOUGHT
from nhalf.node.reading import CHASE, UNIT
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count, exact_size, sentence
from nhalf.results.caches import size_words


class Node(Finder[Facts]):
    """A node's caches and units, and when memory becomes the bottleneck of a loop."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for node in nodes(facts):
            yield from _caches(node)
            yield from _units(node)
            yield from _doubts(node)
        for roof in roofs(facts):
            if roof.level == MEMORY:
                yield _roof(roof)


def _caches(node: NodeFacts) -> Iterator[Finding]:
    sized = [level for level in node.levels.levels if level.size_bytes or level.size_ci]
    words = ", ".join(
        f"L{level.level} {size_words(level.size_bytes, level.size_ci)}"
        f"{f' in {level.ways} ways' if level.ways else ''}, {format_time(level.hit_s)}"
        for level in sized
    )
    memory = node.levels.memory_s
    far = f", memory {format_time(memory)}" if memory else ""
    if words:
        text = f"Caches and their load-to-use latencies: {words}{far}."
        figure = count(len(sized), "level")
        yield Finding(text, 50, "caches", pattern=CHASE, label="Caches", figure=figure)
    for doubt in node.levels.unresolved:
        yield Finding(
            f"Not resolved: {doubt}.",
            35,
            "caches-unresolved",
            remedy="" if doubt in UNSOUGHT else "Measure again on an idle node.",
            pattern=CHASE,
            label="Caches",
        )


def _units(node: NodeFacts) -> Iterator[Finding]:
    if not node.peak_per_s:
        return
    giga = node.peak_per_s / 1e9
    value = node.clock_hz / 1e9
    text = f"The peak of one core is {format_number(giga)} GFLOP/s at {fixed(value, 2)} GHz."
    yield Finding(
        text, 48, "peak", pattern=UNIT, label="Units", figure=f"{format_number(giga)} GFLOP/s"
    )


def _doubts(node: NodeFacts) -> Iterator[Finding]:
    """Disturbances of the whole run."""
    for doubt in node.doubts:
        subject, _, remedy = map(sentence, doubt.partition("; "))
        yield Finding(
            f"{subject}.", 38, "busy-node", remedy=f"{remedy}.", pattern=CHASE, label="Neighbours"
        )


def _roof(roof: Roof) -> Finding:
    text = (
        f"With arrays in memory, a loop on one core needs {format_number(roof.ridge_per_byte)} "
        "floating-point operations for each byte before its units are the limit."
    )
    figure = f"{format_number(roof.ridge_per_byte)} flop/B"
    return Finding(text, 46, "roofline", pattern=UNIT, label="Ridge point", figure=figure)


class Ladder(Finder[Facts]):
    """How close loops come to their bounds, and what keeps most of them from reaching it."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        rows = sorted(facts.results.get("ladder", []), key=lambda row: row["cycles"])
        quickest, tuned = _first(rows, is_tuned=False), _first(rows, is_tuned=True)
        shares = [row["share"] for row in quickest.values() if row["share"] is not None]
        if shares:
            share = median(shares)
            ends = f"from {percent(min(shares))} up to {percent(max(shares))}"
            text = (
                f"In their fastest builds, {count(len(shares), 'kernel')} reach {percent(share)} "
                f"of the rate that bounds them (median), {ends}."
            )
            yield Finding(
                text, 45, "bound-reached", figure=percent(share), pattern=PATTERN, label="Bounds"
            )
        causes = Counter((r["cause"], r["remedy"]) for r in quickest.values() if r["cause"])
        for (cause, remedy), kernels in causes.most_common(1):
            yield Finding(
                f"{sentence(cause)}: the largest loss in {count(kernels, 'kernel')}.",
                44,
                "bound-missed",
                remedy=f"{sentence(remedy)}.",
                figure=count(kernels, "kernel"),
                pattern=PATTERN,
                label="Losses",
            )
        yield from _tuned(quickest, tuned)


def _first(rows: Iterable[Row], *, is_tuned: bool) -> dict[int, Row]:
    """The first row of each kernel, plain or tuned."""
    first_rows: dict[int, Row] = {}
    for row in rows:
        if row["is_tuned"] == is_tuned:
            first_rows.setdefault(row["number"], row)
    return first_rows


def _tuned(quickest: Mapping[int, Row], tuned: Mapping[int, Row]) -> Iterator[Finding]:
    """Compare what transformed kernels reach with what they reached before."""
    shares = [
        (quickest[number]["share"], row["share"])
        for number, row in tuned.items()
        if row["share"] is not None and number in quickest and quickest[number]["share"] is not None
    ]
    if not shares:
        return
    before = fmean(min(1.0, plain) for plain, _ in shares)
    after = fmean(min(1.0, share) for _, share in shares)
    text = (
        f"{count(len(shares), 'tuned kernel')} reach {percent(after)} of the bounding rate on "
        f"average, the same kernels before {percent(before)} (each counts 100 % at most)."
    )
    yield Finding(text, 43, "tuned-reached", figure=percent(after), pattern=PATTERN, label="Tuned")


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


NCCL_IMPORTANCE = 42
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
                NCCL_IMPORTANCE,
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
                NCCL_IMPORTANCE - 1,
                "nccl-beside",
                "Launch and wait",
                figure=format_time(knows_s - works_s),
                size_bytes=up_to_bytes,
            )
