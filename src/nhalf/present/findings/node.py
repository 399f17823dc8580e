"""Findings on a node: its caches and units, and loops beside their bounds."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from statistics import fmean, median

from nhalf.base.numbers import fixed, format_number, percent
from nhalf.base.rows import Row
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.node import NodeFacts, Roof, nodes, roofs
from nhalf.loops.livermore.titles import PATTERN
from nhalf.node.bandwidth import MEMORY
from nhalf.node.levels import UNSOUGHT
from nhalf.node.reading import CHASE, UNIT
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count, sentence
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
