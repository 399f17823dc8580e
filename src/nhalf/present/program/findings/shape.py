# SPDX-License-Identifier: Apache-2.0
"""The communication pattern in one word, and whether it is bound by latency or bandwidth."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import format_number, percent
from nhalf.base.units import format_size
from nhalf.facts.program.program import Program
from nhalf.facts.program.shape.naming import (
    IRREGULAR,
    NONE,
    PAIR,
    TrafficShape,
    communication_shape,
)
from nhalf.facts.program.sizes import median_bytes, message_sizes, share_below
from nhalf.present.findings import Finder, Finding

SMALL_BYTES = 1024
LARGE_BYTES = 64 * 1024
MOSTLY = 0.5
LATENCY_REMEDY = (
    "Combine messages to the same partner, or choose the library with the lowest latency (nhalf "
    "run)."
)


class ShapeOfMessages(Finder[Program]):
    """The shape with its evidence; small messages cost by number, large ones by bytes."""

    def find(self, program: Program) -> Iterator[Finding]:
        shape = communication_shape(program)
        if shape.name == NONE:
            return
        small = share_below(message_sizes(program), SMALL_BYTES)
        large = 1 - share_below(message_sizes(program), LARGE_BYTES)
        partners = f"{format_number(shape.partners)} partner{'' if shape.partners == 1 else 's'}"
        middle = median_bytes(message_sizes(program))
        bound, sizes, remedy = "", f"are {format_size(middle)} at most", ""
        share = share_below(message_sizes(program), middle + 1)
        if small >= MOSTLY:
            bound, sizes, share = "latency-bound ", f"are below {format_size(SMALL_BYTES)}", small
            remedy = LATENCY_REMEDY
        elif large >= MOSTLY:
            bound, sizes, share = (
                "bandwidth-bound ",
                f"are {format_size(LARGE_BYTES)} or larger",
                large,
            )
        if message_sizes(program).height == 1:
            sizes, share = f"are of {format_size(middle)}", 1.0
        subject = "All messages" if share == 1 else f"{percent(share)} of the messages"
        if shape.name == PAIR:
            yield _finding(
                f"{shape.evidence} {subject} {sizes}{_bound(bound)}.", shape, share, remedy
            )
            return
        name = f"{bound}{shape.words}" if shape.name != IRREGULAR else f"{bound}irregular pattern"
        article = "an" if name[0] in "aeio" else "a"
        evidence = f" {shape.evidence}"
        text = f"{subject} {sizes} and a rank sends to {partners}: {article} {name}.{evidence}"
        yield _finding(text, shape, share, remedy)


def _finding(text: str, shape: TrafficShape, share: float, remedy: str) -> Finding:
    """Headed by the shape: the share says nothing without its sentence."""
    return Finding(
        text,
        importance=80,
        kind="shape",
        remedy=remedy,
        value=share,
        label="Communication pattern",
        figure=shape.name or "irregular",
    )


def _bound(bound: str) -> str:
    return f": {bound.strip()}" if bound else ""
