# SPDX-License-Identifier: Apache-2.0
"""The fastest library for small, medium and large messages, and the exceptions."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.listing import few
from nhalf.base.units import format_size
from nhalf.facts.facts import Facts
from nhalf.facts.leads import Exemption, Lead, leads
from nhalf.facts.series import MAIN_PATTERN
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, ends, sentence, times, weight

EXCEPTIONS_MAX = 3
"""The number of exceptions that are described; the rest are counted."""
PATTERNS_MAX = 4


class FastestLibrary(Finder):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, leads(facts))


def _finding(lead: Lead) -> Finding:
    standing, titles = lead.standing, lead.contest.titles
    behind, level = standing.behind, standing.level
    words = ", ".join(
        f"{titles[other]} {'' if number else 'takes '}{times(interval.median)}"
        + (f" ({ends(interval)})" if number else f" as long ({between(interval)})")
        for number, (other, interval) in enumerate(behind)
    )
    leaders = " or ".join(titles[mpi] for mpi in (standing.best, *level))
    first, last = format_size(lead.sizes[0]), format_size(lead.sizes[-1])
    worst = behind[-1][1]
    return Finding(
        f"{leaders} is fastest for {lead.size_class} messages ({_where(lead)}{first} to {last}"
        f"{'; too close to tell apart' if level else ''}). {words}." + _others(lead),
        importance=weight(worst.median, 50, 75),
        kind=f"fastest-{lead.size_class}",
        label=f"{sentence(lead.size_class)} messages",
        value=worst.median,
        low=worst.low,
        high=worst.high,
        mpi=standing.best,
        pattern=lead.pattern,
    )


def _where(lead: Lead) -> str:
    """The pattern of the verdict, if it is not obvious or others were measured as well."""
    alone = lead.pattern == MAIN_PATTERN and not lead.agreeing and not lead.exceptions
    return "" if alone else f"{lead.pattern}, "


def _others(lead: Lead) -> str:
    """Evidence from further patterns and sizes, contradictions first."""
    said = ""
    if lead.exceptions:
        described = [_exception(one, lead) for one in lead.exceptions[:EXCEPTIONS_MAX]]
        more = len(lead.exceptions) - len(described)
        said += f" Except: {'; '.join(described)}" + (f"; and {more} more." if more else ".")
    if lead.agreeing:
        said += f" Also fastest in {few(lead.agreeing, PATTERNS_MAX)}."
    return said


def _exception(one: Exemption, lead: Lead) -> str:
    """'in stream, 256 B to 1 KiB, MPICH is 1.8x as fast (interval 1.6 to 2.0)'."""
    first, last = format_size(one.first_bytes), format_size(one.last_bytes)
    place = first if one.first_bytes == one.last_bytes else f"{first} to {last}"
    than = "" if len(lead.contest.titles) == 2 else f" as {_leader(lead)}"
    return (
        f"in {one.pattern}, {place}, {one.faster} is {times(one.ratio.median)} as fast{than} "
        f"({between(one.ratio)})"
    )


def _leader(lead: Lead) -> str:
    return lead.contest.titles[lead.standing.best]
