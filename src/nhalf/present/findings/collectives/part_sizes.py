# SPDX-License-Identifier: Apache-2.0
"""Where an algorithm that cuts messages is faster with another size of parts."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.part_sizes import gains_by_part
from nhalf.facts.series import library_label
from nhalf.models.expression import PART_BYTES
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight


class PartSizes(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        largest: dict[tuple[str, str, str], Row] = {}
        for row in gains_by_part(facts).iter_rows(named=True):
            key = row["mpi"], row["pattern"], row["algorithm"]
            if key not in largest or row["gain"].median > largest[key]["gain"].median:
                largest[key] = row
        for row in largest.values():
            yield _finding(row, facts)


def _finding(row: Row, facts: Facts) -> Finding:
    gain = row["gain"]
    return Finding(
        f"{library_label(facts, row['transport'], row['mpi'])}: {row['pattern']} by "
        f"{row['algorithm']} of {format_size(row['bytes'])} on {row['ranks']} ranks is fastest in "
        f"parts of {format_size(row['part_bytes'])} ({format_time(row['median_s'])}); in parts of "
        f"{format_size(PART_BYTES)} it takes {times(gain.median)} as long ({between(gain)}).",
        importance=weight(gain.median, 42, 60),
        kind="part-size",
        label="Size of parts",
        interval=gain,
        mpi=row["mpi"],
        pattern=row["pattern"],
        size_bytes=row["bytes"],
    )
