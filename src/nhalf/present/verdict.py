# SPDX-License-Identifier: Apache-2.0
"""The verdict of a report: which library to use, where not, and whether that is sure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from nhalf.base.numbers import times
from nhalf.facts.contests import CLASSES
from nhalf.facts.extent import extent
from nhalf.facts.facts import Facts
from nhalf.facts.leads import Exemption, Lead, leads
from nhalf.facts.overview import overview
from nhalf.present.wording import between, size_range

UNDECIDED = (
    "No library is significantly faster in ping-pong or any other pattern between two ranks: take "
    "the one that you have. More launches would narrow the intervals."
)
SURE = "Sure: all these intervals exclude a tie."


def verdict(facts: Facts) -> str:
    """One or two sentences for whoever decides; '' if there is nothing to choose between."""
    if extent(facts).is_simulated or extent(facts).libraries < 2 or not overview(facts):
        return ""
    all_leads = leads(facts)
    if not all_leads:
        return UNDECIDED
    setting = all_leads[0].contest.setting
    setting_leads = [lead for lead in all_leads if lead.contest.setting == setting]
    clear = [lead for lead in setting_leads if not lead.depends_on_size] or setting_leads
    counted = Counter(lead.standing.best for lead in clear)
    best = max(counted, key=lambda mpi: counted[mpi])
    titles = setting_leads[0].contest.titles
    won = [lead for lead in clear if lead.standing.best == best]
    alike = sorted(set.intersection(*({*lead.alike} for lead in won)))
    names = " or ".join(titles[mpi] for mpi in (best, *alike))
    sentences = [
        f"Use {names}: the fastest for {_classes(won)} messages{_sizes(won)}"
        f"{''.join(_elsewhere(lead, best, titles[best]) for lead in clear if lead not in won)}."
    ]
    sentences += [_by_size(lead) for lead in setting_leads if lead not in clear]
    exceptions = sorted((e for lead in won for e in lead.exceptions), key=lambda e: -e.ratio.median)
    if exceptions:
        sentences.append(exception(exceptions[0], len(exceptions) - 1))
    return " ".join([*sentences, _sureness(setting_leads)])


def _classes(won: Sequence[Lead]) -> str:
    """'small and medium', or 'all'."""
    names = [lead.size_class for lead in won]
    return "all" if len(names) == len(CLASSES) else " and ".join(names)


def _sizes(won: Sequence[Lead]) -> str:
    """' (8 B to 64 KiB)': the sizes measured, if they are neighbours."""
    order = [name for name, _, _ in CLASSES]
    places = sorted(order.index(lead.size_class) for lead in won)
    if places != list(range(places[0], places[-1] + 1)):
        return ""
    sizes = [size for lead in won for size in lead.sizes]
    return f" ({size_range(min(sizes), max(sizes))})"


def _elsewhere(lead: Lead, best: str, title: str) -> str:
    """Name the library that is faster for another class, with the ratio if known."""
    faster = lead.contest.titles[lead.standing.best]
    behind = dict(lead.standing.behind)
    if best not in behind:
        cliffs = lead.cliffs(best)
        if not cliffs:
            return f"; for {lead.size_class} ones {faster} is as fast"
        worst = cliffs[0]
        return (
            f"; for {lead.size_class} ones {worst.faster} is up to {times(worst.ratio.median)} as "
            f"fast as {title} ({_place(worst)})"
        )
    ratio = behind[best]
    return (
        f"; for {lead.size_class} ones{_sizes([lead])} {faster} is {times(ratio.median)} as fast "
        f"as {title} on average ({between(ratio)})"
    )


def _by_size(lead: Lead) -> str:
    """Recommend a library for a class whose fastest one depends on the size."""
    worst = lead.exceptions[0]
    best = lead.contest.titles[lead.standing.best]
    return (
        f"For {lead.size_class} ones it depends on the size: in {_place(worst)}, {worst.faster} is "
        f"{times(worst.ratio.median)} as fast as {best}{and_more(len(lead.exceptions) - 1)}."
    )


def exception(exemption: Exemption, further: int) -> str:
    """State where another library is faster, and count the further places."""
    return (
        f"Except in {_place(exemption)}, where {exemption.faster} is "
        f"{times(exemption.ratio.median)} as fast{and_more(further)}."
    )


def _place(exemption: Exemption) -> str:
    """'stream, 256 B to 1 KiB'."""
    return f"{exemption.pattern}, {size_range(exemption.first_bytes, exemption.last_bytes)}"


def and_more(further: int) -> str:
    """End a sentence about an exception: ', and 2 more exceptions in the findings'."""
    noun = "exception" if further == 1 else "exceptions"
    return f", and {further} more {noun} in the findings" if further else ""


def _sureness(setting_leads: Sequence[Lead]) -> str:
    """State what the intervals leave open."""
    open_classes = [
        name for name, _, _ in CLASSES if name not in {x.size_class for x in setting_leads}
    ]
    if not open_classes:
        tied = [lead for lead in setting_leads if lead.standing.level and not lead.depends_on_size]
        if not tied:
            return SURE
        return (
            "Sure of which are slower; "
            f"for {_classes(tied)} messages the fastest are too close to tell apart."
        )
    return f"Not sure for {' and '.join(open_classes)} messages: the intervals leave it open."
