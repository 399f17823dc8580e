# SPDX-License-Identifier: Apache-2.0
"""Breakdown of a message's time: the layer below, and what a library adds to it."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import percent
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.layers import LayerTime, own_parts
from nhalf.facts.series import MAIN_PATTERN
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import weight


class Layers(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for about, parts in own_parts(facts):
            first, last = parts[0], parts[-1]
            more = f" {_sentence(last)}" if last.size_bytes > first.size_bytes else ""
            yield Finding(
                f"{about['label']}: {_sentence(first)}{more}",
                importance=weight(1 / (1 - first.own.median), 46, 58),
                kind="layers",
                label="Where the time goes",
                figure=percent(first.own.median),
                interval=first.own,
                mpi=str(about["mpi"]),
                pattern=MAIN_PATTERN,
                size_bytes=first.size_bytes,
            )


def _sentence(part: LayerTime) -> str:
    """'of the 470 ns of a message of 8 B, shm alone takes 240 ns; 49 % (45 % to 53 %) are ...'."""
    own = part.own
    return (
        f"of the {format_time(part.library_s)} of a message of {format_size(part.size_bytes)}, "
        f"{part.layer} alone takes {format_time(part.layer_s)}; {percent(own.median)} "
        f"(interval {percent(own.low)} to {percent(own.high)}) is the library's own."
    )
