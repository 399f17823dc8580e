# SPDX-License-Identifier: Apache-2.0
"""The fastest against the slowest library at the smallest size of all."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.units import format_size, format_time
from nhalf.facts.contests import beyond, contests
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import FASTER, between, times, weight


class SmallestMessage(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        for contest in contests(data):
            sizes = contest.sizes()[:1]
            if not sizes:
                continue
            ranking = contest.ranking(sizes)
            fast, slow = ranking[0], ranking[-1]
            interval = beyond(contest.ratios(slow, fast, sizes), FASTER)
            if interval is None:
                continue
            yield Finding(
                f"{contest.titles[slow]} needs {format_time(contest.time_s(slow, sizes[0]))} for "
                f"the smallest message ({format_size(sizes[0])}) where {contest.titles[fast]} "
                f"needs {format_time(contest.time_s(fast, sizes[0]))}: {times(interval.median)}, "
                f"{between(interval)}.",
                importance=weight(interval.median, 70, 90),
                kind="smallest-message",
                label="Smallest message",
                remedy="Programs that send many small messages run faster on "
                f"{contest.titles[fast]} here.",
                value=interval.median,
                low=interval.low,
                high=interval.high,
                mpi=slow,
                size_bytes=sizes[0],
            )
