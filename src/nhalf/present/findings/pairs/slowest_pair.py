# SPDX-License-Identifier: Apache-2.0
"""The two ranks that are farthest apart."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size
from nhalf.facts.distance import PATTERN, slowest_pairs
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight


class SlowestPair(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for pair in slowest_pairs(facts):
            where = f" ({pair.relation})" if pair.relation else ""
            yield Finding(
                f"{pair.series}: ranks {pair.ranks[0]} and {pair.ranks[1]}{where} are farthest "
                f"apart; a message of {format_size(pair.size_bytes)} takes "
                f"{times(pair.ratio.median)} as long between them as between the median pair "
                f"({between(pair.ratio)}).",
                importance=weight(pair.ratio.median, 41, 66),
                kind="slowest-pair",
                label="Slowest pair",
                interval=pair.ratio,
                mpi=pair.mpi,
                pattern=PATTERN,
                size_bytes=pair.size_bytes,
            )
