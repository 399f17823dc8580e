# SPDX-License-Identifier: Apache-2.0
"""From how many simultaneous pairs on a short message takes longer than between one pair alone."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.listing import listed
from nhalf.base.numbers import times
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.pairs import LATENCY, Onset, load_onsets
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, count, weight


class LoadOnset(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for series, mpi, onsets in load_onsets(facts):
            yield _finding(series, mpi, onsets)


def _finding(series: str, mpi: str, onsets: list[Onset]) -> Finding:
    """One finding for all sizes; the smallest of those that suffer first gives its numbers."""
    sizes_by_pairs: dict[int, list[str]] = {}
    for onset in sorted(onsets, key=lambda onset: onset.pairs):
        sizes_by_pairs.setdefault(onset.pairs, []).append(format_size(onset.size_bytes))
    (pairs, sizes), *later = sizes_by_pairs.items()
    further = "".join(
        f", and from {count(number, 'pair')} on those of {listed(names)},"
        for number, names in later
    )
    first = next(onset for onset in onsets if onset.pairs == pairs)
    more = " or more" if first.most > pairs else ""
    most = f", {times(first.at_most.median)} with {first.most}" if more else ""
    return Finding(
        f"{series}: with {pairs}{more} pairs at once, messages of {listed(sizes)}{further} take "
        f"longer than between a single pair: {sizes[0]} with {pairs} pairs "
        f"{times(first.ratio.median)} the {format_time(first.alone.median)} of a single pair "
        f"({between(first.ratio)}){most}.",
        importance=weight(first.at_most.median, 41, 66),
        kind="load-onset",
        label="Latency under load",
        interval=first.ratio,
        figure=count(pairs, "pair"),
        mpi=mpi,
        pattern=LATENCY,
        size_bytes=first.size_bytes,
    )
