"""The verdict of a report: which library to use, where not, and whether that is sure."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from nhalf.base.listing import listed
from nhalf.base.numbers import times
from nhalf.facts.contests import CLASSES
from nhalf.facts.extent import extent
from nhalf.facts.facts import Facts
from nhalf.facts.leads import Exemption, Lead, leads
from nhalf.facts.machine_states import busy_launches
from nhalf.facts.overview import overview
from nhalf.present.collectives_verdict import collectives_verdict
from nhalf.present.wording import between, size_range

EQUAL = "No library is significantly faster in ping-pong or any other pattern between two ranks"
AS_IT_IS = "take the one that you have"
MORE_LAUNCHES = "More launches would narrow the intervals."
BUSY = (
    "Other processes used the ranks' cores: times are those of a busy machine. Measure again on an "
    "idle one before you choose a library."
)
SURE = "Sure: all these intervals exclude a tie."


def verdict(facts: Facts) -> str:
    """A few sentences for whoever decides; '' if there is nothing to choose between."""
    if extent(facts).is_simulated or extent(facts).libraries < 2:
        return ""
    collectives = collectives_verdict(facts)
    if not (overview(facts) or collectives):
        return ""
    if busy_launches(facts) is not None:
        return BUSY
    all_leads = leads(facts)
    messages = ""
    if all_leads:
        messages = _of_messages(all_leads)
    elif overview(facts):
        messages = f"{EQUAL}." if collectives else undecided(facts)
    return " ".join(filter(None, [messages, collectives]))


def undecided(facts: Facts) -> str:
    """What to do where no difference was found at all."""
    words = f"{EQUAL}: {AS_IT_IS}."
    return words if extent(facts).is_virtual else f"{words} {MORE_LAUNCHES}"


def _of_messages(all_leads: Sequence[Lead]) -> str:
    """Which library to use for messages between two ranks, and where not."""
    setting = all_leads[0].contest.setting
    setting_leads = [lead for lead in all_leads if lead.contest.setting == setting]
    clear = [lead for lead in setting_leads if not lead.depends_on_size] or setting_leads
    counted = Counter(lead.standing.best for lead in clear)
    best = max(counted, key=lambda mpi: counted[mpi])
    titles = setting_leads[0].contest.titles
    won = [lead for lead in clear if best in _fastest(lead)]
    alike = sorted(set.intersection(*({*_fastest(lead)} for lead in won)) - {best})
    names = " or ".join(titles[mpi] for mpi in (best, *alike))
    rivals = {lead.size_class: _rivals(lead, (best, *alike)) for lead in won}
    sole = [lead for lead in won if not rivals[lead.size_class]]
    tied = {name: titles_there for name, titles_there in rivals.items() if titles_there}
    sentences = [
        f"Use {names}: {_praise(sole, tied)}"
        f"{''.join(_elsewhere(lead, best, titles[best]) for lead in clear if lead not in won)}."
    ]
    sentences += [_by_size(lead) for lead in setting_leads if lead not in clear]
    own = (lead for lead in won if lead.standing.best == best)
    exceptions = sorted((e for lead in own for e in lead.exceptions), key=lambda e: -e.ratio.median)
    if exceptions:
        sentences.append(exception(exceptions[0], len(exceptions) - 1))
    named_ties = set() if alike else set(tied)
    return " ".join(filter(None, [*sentences, _sureness(setting_leads, named_ties)]))


def _rivals(lead: Lead, recommended: Sequence[str]) -> list[str]:
    """The titles of libraries as fast as the leader there that are not recommended themselves."""
    return [lead.contest.titles[mpi] for mpi in _fastest(lead) if mpi not in recommended]


def _fastest(lead: Lead) -> tuple[str, ...]:
    """The libraries that are fastest there, as far as intervals tell."""
    return lead.standing.best, *lead.alike


def _praise(sole: Sequence[Lead], tied: Mapping[str, Sequence[str]]) -> str:
    """'the fastest for medium messages (2 to 64 KiB) and not beaten elsewhere (small: ...)'."""
    as_fast = "; ".join(f"{name}: {listed(titles)} as fast" for name, titles in tied.items())
    fastest = f"the fastest for {_classes(sole)} messages{_sizes(sole)}" if sole else ""
    if not tied:
        return fastest
    where = "elsewhere" if sole else f"for {listed(list(tied))} messages"
    return " and ".join(filter(None, [fastest, f"not beaten {where} ({as_fast})"]))


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


def _sureness(setting_leads: Sequence[Lead], named_ties: Collection[str]) -> str:
    """State what the intervals leave open, beside the ties of these classes."""
    open_classes = [
        name for name, _, _ in CLASSES if name not in {x.size_class for x in setting_leads}
    ]
    if not open_classes:
        tied = [lead for lead in setting_leads if lead.standing.level and not lead.depends_on_size]
        if tied and all(lead.size_class in named_ties for lead in tied):
            return ""
        if not tied:
            return SURE
        return (
            "Sure of which are slower; "
            f"for {_classes(tied)} messages the fastest are too close to tell apart."
        )
    return f"Not sure for {' and '.join(open_classes)} messages: the intervals leave it open."
