# SPDX-License-Identifier: Apache-2.0
"""A node's caches and units, and when memory becomes the bottleneck of a loop."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import fixed, format_number
from nhalf.base.units import format_time
from nhalf.facts.facts import Facts
from nhalf.facts.node import NodeFacts, nodes
from nhalf.facts.roofline import Roof, roofs
from nhalf.node.bandwidth import MEMORY
from nhalf.node.levels import UNSOUGHT
from nhalf.node.reading import CHASE, UNIT
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import count, sentence
from nhalf.results.caches import size_words


class Node(Finder[Facts]):
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
    yield Finding(
        f"The peak of one core is {format_number(giga)} GFLOP/s at "
        f"{fixed(node.clock_hz / 1e9, 2)} GHz.",
        48,
        "peak",
        pattern=UNIT,
        label="Units",
        figure=f"{format_number(giga)} GFLOP/s",
    )


def _doubts(node: NodeFacts) -> Iterator[Finding]:
    """Disturbances of the whole run."""
    for doubt in node.doubts:
        subject, _, remedy = map(sentence, doubt.partition("; "))
        yield Finding(
            f"{subject}.", 38, "busy-node", remedy=f"{remedy}.", pattern=CHASE, label="Neighbours"
        )


def _roof(roof: Roof) -> Finding:
    return Finding(
        f"With arrays in memory, a loop on one core needs {format_number(roof.ridge_per_byte)} "
        "floating-point operations for each byte before its units are the limit.",
        46,
        "roofline",
        pattern=UNIT,
        label="Ridge point",
        figure=f"{format_number(roof.ridge_per_byte)} flop/B",
    )
