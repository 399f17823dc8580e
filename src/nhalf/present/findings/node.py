# SPDX-License-Identifier: Apache-2.0
"""A node's caches and units, and when memory becomes the bottleneck of a loop."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.node import NodeFacts, nodes
from nhalf.facts.roofline import Roof, roofs
from nhalf.node.bandwidth import MEMORY
from nhalf.node.levels import SHARED
from nhalf.node.reading import CHASE, UNIT
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import sentence


class Node(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for one in nodes(facts):
            yield from _caches(one)
            yield from _units(one)
            yield from _doubts(one)
        for roof in roofs(facts):
            if roof.level == MEMORY:
                yield _roof(roof)


def _caches(one: NodeFacts) -> Iterator[Finding]:
    known = [level for level in one.levels.levels if level.size_bytes]
    words = ", ".join(
        f"L{level.level} {format_size(level.size_bytes or 0)} in {level.ways} ways, "
        f"{format_time(level.hit_s)} a load"
        for level in known
    )
    memory = one.levels.memory_s
    far = f"; a load from the largest arrays takes {format_time(memory)}" if memory else ""
    if words:
        text = f"Private caches: {words}{far}."
        yield Finding(text, 50, "caches", pattern=CHASE, label="Caches", figure=f"{len(known)}")
    for doubt in one.levels.unresolved:
        yield Finding(
            f"Not resolved: {doubt}.",
            35,
            "caches-unresolved",
            remedy="" if doubt == SHARED else "Measure again on an idle node.",
            pattern=CHASE,
            label="Caches",
        )


def _units(one: NodeFacts) -> Iterator[Finding]:
    if not one.peak_per_s:
        return
    giga = one.peak_per_s / 1e9
    yield Finding(
        f"One core does {giga:.3g} billion floating-point operations a second at most, at "
        f"{one.clock_hz / 1e9:.2f} GHz.",
        48,
        "peak",
        pattern=UNIT,
        label="Units",
        figure=f"{giga:.3g} G/s",
    )


def _doubts(one: NodeFacts) -> Iterator[Finding]:
    """Disturbances of the whole run."""
    for doubt in one.doubts:
        what, _, remedy = map(sentence, doubt.partition("; "))
        yield Finding(
            f"{what}.", 38, "busy-node", remedy=f"{remedy}.", pattern=CHASE, label="Neighbours"
        )


def _roof(roof: Roof) -> Finding:
    return Finding(
        f"With arrays in memory, a loop on one core needs {roof.ridge_per_byte:.3g} floating-point "
        "operations for each byte before its units are the limit.",
        46,
        "roofline",
        pattern=UNIT,
        label="Roofline",
        figure=f"{roof.ridge_per_byte:.3g}/B",
    )
