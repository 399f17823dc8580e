# SPDX-License-Identifier: Apache-2.0
"""The fastest against the slowest library at the smallest size measured."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size, format_time
from nhalf.facts.contests import Contest, contests
from nhalf.facts.facts import Facts
from nhalf.facts.leads import leads
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, weight


class SmallestMessage(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        for contest in contests(facts):
            sizes = contest.sizes()[:1]
            if sizes:
                yield from _findings(facts, contest, sizes[0])


def _findings(facts: Facts, contest: Contest, size: int) -> Iterator[Finding]:
    fast, *_, slow = contest.ranking([size])
    interval = contest.behind(slow, fast, [size])
    if interval is None:
        return
    titles = contest.titles
    yield Finding(
        f"{titles[slow]} needs {format_time(contest.time_s(slow, size))} for the smallest message "
        f"({format_size(size)}) where {titles[fast]} needs "
        f"{format_time(contest.time_s(fast, size))}: {times(interval.median)}, "
        f"{between(interval)}.",
        importance=weight(interval.median, 70, 90),
        kind="smallest-message",
        label="Smallest message",
        remedy=_remedy(facts, contest, fast),
        interval=interval,
        mpi=slow,
        size_bytes=size,
    )


def _remedy(facts: Facts, contest: Contest, fast: str) -> str:
    """The consequence for programs, if all patterns agree about small messages."""
    for lead in leads(facts):
        if lead.size_class != "small" or lead.contest.setting != contest.setting:
            continue
        if lead.standing.best != fast or lead.exceptions:
            return ""
        activity = "send many small messages" if lead.agreeing else "wait for small messages"
        return f"Programs that {activity} run faster on {contest.titles[fast]} here."
    return ""
