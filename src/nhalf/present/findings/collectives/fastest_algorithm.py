# SPDX-License-Identifier: Apache-2.0
"""Where an algorithm on a library's messages is faster than the library's own collective."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size
from nhalf.facts.algorithms import Beaten, beaten
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, count, weight


class FastestAlgorithm(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, beaten(facts))


def _finding(library: Beaten) -> Finding:
    """One sentence for a library."""
    row, behind = library.worst.row, library.worst.behind
    size = f" of {format_size(row['bytes'])}" if row["bytes"] else ""
    return Finding(
        f"{library.title} is slower than an algorithm on its own messages at "
        f"{len(library.wins)} of {count(library.points, 'point')}. Most so in "
        f"{row['pattern']}{size} on {row['ranks']} ranks: it takes {times(behind.median)} as long "
        f"as {row['algorithm']} ({between(behind)}).",
        importance=weight(behind.median, 46, 70),
        kind="algorithm",
        label="Faster algorithm",
        interval=behind,
        mpi=row["mpi"],
        pattern=row["pattern"],
        size_bytes=row["bytes"],
    )
