# SPDX-License-Identifier: Apache-2.0
"""The fastest library for small, medium and large messages, and the exceptions."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.listing import few
from nhalf.base.numbers import times
from nhalf.facts.facts import Facts
from nhalf.facts.leads import Exemption, Lead, leads
from nhalf.facts.series import MAIN_PATTERN
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, ends, sentence, size_range, weight

EXCEPTIONS_MAX = 3
"""The number of exceptions that are described; the rest are counted."""
PATTERNS_MAX = 4


class FastestLibrary(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_finding, leads(facts))


def _finding(lead: Lead) -> Finding:
    standing, titles = lead.standing, lead.contest.titles
    behind = standing.behind
    average = "On average there, " if len(lead.sizes) > 1 else ""
    words = ", ".join(
        f"{titles[mpi]} {'' if number else 'takes '}{times(interval.median)}"
        + (f" ({ends(interval)})" if number else f" as long ({between(interval)})")
        for number, (mpi, interval) in enumerate(behind)
    )
    level = standing.level if lead.depends_on_size else lead.alike
    leaders = " or ".join(titles[mpi] for mpi in (standing.best, *level))
    worst = behind[-1][1]
    place = f"{_where(lead)}{size_range(lead.sizes[0], lead.sizes[-1])}{_doubt(lead)}"
    return Finding(
        f"{leaders} is fastest for {lead.size_class} messages ({place}). {average}{words}."
        f"{_cliffs(lead)}{_evidence(lead)}",
        importance=weight(worst.median, 50, 75),
        kind=f"fastest-{lead.size_class}",
        label=f"{sentence(lead.size_class)} messages",
        interval=worst,
        mpi=standing.best,
        pattern=lead.pattern,
    )


def _doubt(lead: Lead) -> str:
    """Why several libraries are named."""
    if lead.depends_on_size:
        return "; which one depends on the size"
    return "; too close to tell apart" if lead.alike else ""


def _cliffs(lead: Lead) -> str:
    """Name libraries that are as fast at most sizes, and the sizes at which they are not."""
    text = ""
    for mpi in () if lead.depends_on_size else lead.standing.level:
        for worst in lead.cliffs(mpi)[:1]:
            text += (
                f" {lead.contest.titles[mpi]} is as fast at most sizes, but takes "
                f"{times(worst.ratio.median)} as long at "
                f"{size_range(worst.first_bytes, worst.last_bytes)}."
            )
    return text


def _where(lead: Lead) -> str:
    """The pattern of the verdict, if it is not obvious or others were measured as well."""
    alone = lead.pattern == MAIN_PATTERN and not lead.agreeing and not lead.exceptions
    return "" if alone else f"{lead.pattern}, "


def _evidence(lead: Lead) -> str:
    """Evidence from further patterns and sizes, contradictions first."""
    text = ""
    if lead.exceptions:
        described = [_exception(exemption, lead) for exemption in lead.exceptions[:EXCEPTIONS_MAX]]
        more = len(lead.exceptions) - len(described)
        text += f" Except: {'; '.join(described)}" + (f"; and {more} more." if more else ".")
    if lead.agreeing:
        text += f" Also fastest in {few(lead.agreeing, PATTERNS_MAX)}."
    return text


def _exception(exemption: Exemption, lead: Lead) -> str:
    """'in stream, 256 B to 1 KiB, MPICH is 1.8x as fast (interval 1.6 to 2.0)'."""
    than = "" if len(lead.contest.titles) == 2 else f" as {_leader(lead)}"
    return (
        f"in {exemption.pattern}, {size_range(exemption.first_bytes, exemption.last_bytes)}, "
        f"{exemption.faster} is {times(exemption.ratio.median)} as fast{than} "
        f"({between(exemption.ratio)})"
    )


def _leader(lead: Lead) -> str:
    return lead.contest.titles[lead.standing.best]
