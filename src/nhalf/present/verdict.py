"""The verdict of a report: which library to use, where not, and whether that is sure."""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from nhalf.base.listing import few, listed, ranks_text
from nhalf.base.numbers import times
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.facts.applications import Race, series_races
from nhalf.facts.collectives import ClassStanding, standings
from nhalf.facts.contests import CLASSES, Exemption, Lead, leads
from nhalf.facts.extent import extent
from nhalf.facts.facts import Facts
from nhalf.facts.machine_states import busy_launches
from nhalf.facts.overview import overview
from nhalf.present.findings import WARNING, findings
from nhalf.present.wording import between, count, n_half_text, size_range
from nhalf.statistics.intervals import Interval

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
    # Libraries that are as fast in a class and not recommended themselves.
    rivals = {
        lead.size_class: [titles[mpi] for mpi in _fastest(lead) if mpi not in (best, *alike)]
        for lead in won
    }
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


KERNELS_MAX = 4
UNDECIDED = (
    "No library or programming model runs these applications significantly faster than another: "
    "take the one that you have. More launches would narrow the intervals."
)


def application_verdict(facts: Facts) -> str:
    """Write two or three sentences about the largest number of workers that several ran on.

    The one with the most kernels won, less those lost, is recommended. '' if there is no choice.
    """
    races = _largest(list(series_races(facts)))
    if not races:
        return ""
    wins = list(_wins(races))
    if not wins:
        return UNDECIDED
    score = Counter(race.second for race, _, _ in wins)
    score.subtract(race.first for race, _, _ in wins)
    best = max(sorted(score), key=lambda name: score[name])
    sentences = [
        _recommended(best, races[0].place["workers"], [x for x in wins if x[0].second == best]),
        _exceptions(best, [x for x in wins if x[0].first == best]),
        _application_sureness(best, races),
    ]
    return " ".join(filter(None, sentences))


def _largest(races: Sequence[Race]) -> list[Race]:
    """Select the races on the most ranks or threads, in the first run that has them."""
    if not races:
        return []
    place = max(races, key=lambda race: int(str(race.place["workers"]))).place
    return [race for race in races if race.place == place]


def _wins(races: Sequence[Race]) -> Iterator[tuple[Race, str, Interval]]:
    """Yield every win of either entrant: the race with the winner second, kernel and ratio."""
    for race in races:
        for direction in (race, race.reversed):
            for kernel, ratio in direction.wins().items():
                yield direction, kernel, ratio


def _recommended(best: str, workers: object, wins: Sequence[tuple[Race, str, Interval]]) -> str:
    race, kernel, ratio = max(wins, key=lambda x: x[2].median)
    kernels = sorted({name for _, name, _ in wins})
    where = "1 rank or thread" if workers == 1 else f"{workers} ranks or threads"
    return (
        f"Use {best} on {where}: faster in {few(kernels, KERNELS_MAX)}; {kernel} is "
        f"{times(ratio.median)} as fast as with {race.first} ({between(ratio)})."
    )


def _exceptions(best: str, losses: Sequence[tuple[Race, str, Interval]]) -> str:
    """State the strongest case in which another is faster, and count the others."""
    if not losses:
        return ""
    race, kernel, ratio = max(losses, key=lambda x: x[2].median)
    more = and_more(len({name for _, name, _ in losses}) - 1)
    return f"Except in {kernel}, where {race.second} is {times(ratio.median)} as fast{more}."


def _application_sureness(best: str, races: Sequence[Race]) -> str:
    """List the kernels in which the recommended one and a rival do not differ significantly."""
    level = {}
    for race in races:
        if best in (race.first, race.second):
            rival = race.second if best == race.first else race.first
            level[rival] = sorted(race.ratios.keys() - {*race.wins(), *race.reversed.wins()})
    open_ones = [f"{rival} in {few(names, KERNELS_MAX)}" for rival, names in level.items() if names]
    if not open_ones:
        return SURE
    return f"Not sure against {' and '.join(open_ones)}: the intervals leave it open."


def collectives_verdict(facts: Facts) -> str:
    """'In collectives A is fastest in 9 cases, by up to 2.0x (...), B in 3.'; '' without any.

    A case is a cell of the table in fastest_by_ranks.py in which some library is slower than the
    fastest ones, and the factor is that of the table, to the next library.
    """
    cases = [standing for standing in standings(facts) if standing.lead is not None]
    if not cases:
        return ""
    # Libraries that are as fast as each other are one answer, whichever of them was ahead.
    (leaders, won), *other_wins = Counter(frozenset(case.fastest) for case in cases).most_common()
    largest = max((case for case in cases if frozenset(case.fastest) == leaders), key=_lead)
    words = [
        f"{_titles(leaders, facts)} is fastest in {count(won, 'case')}, by up to "
        f"{times(_lead(largest))} ({_case_place(largest)})",
        *(f"{_titles(fastest, facts)} in {number}" for fastest, number in other_wins),
    ]
    return f"In collectives {', '.join(words)}."


def _titles(libraries: Iterable[str], facts: Facts) -> str:
    """'MPICH 5.0.2 or Open MPI 5.0.11'."""
    return " or ".join(sorted(facts.titles.get(mpi, mpi) for mpi in libraries))


def _lead(case: ClassStanding) -> float:
    return case.lead.median if case.lead else 1.0


def _case_place(case: ClassStanding) -> str:
    """'bcast, 8 B to 1 KiB, 8 ranks'."""
    first, last = case.sizes_bytes[0], case.sizes_bytes[-1]
    sizes = f", {size_range(first, last)}" if last else ""
    return f"{case.pattern}{sizes}, {ranks_text(case.ranks)}"


SAID_FIRST = "wrong-data"
"""A kind of finding that stands above every page."""
RUNS = "run-change"


def run_verdict(facts: Facts) -> str:
    """How the runs differ, of a report on several; '' for one."""
    return " ".join(finding.text for finding in findings(facts) if finding.kind == RUNS)


def plain_verdict(facts: Facts) -> str:
    """The first finding, what one library reaches, or that nothing stands out."""
    lines = overview(facts)
    if len(lines) == 1:
        only = lines[0]
        latency = f"{format_time(only.latency_s)} for {format_size(only.latency_bytes)}"
        peak = f"{format_rate(only.peak_Bps)} at {format_size(only.peak_bytes)}"
        return (
            f"{only.series}: {latency}, {peak}; half of that at {n_half_text(only.n_half_bytes)}."
        )
    for finding in findings(facts):
        if finding.importance >= WARNING and finding.kind != SAID_FIRST:
            return finding.text
    points = count(extent(facts).points, "point")
    return f"No difference or cost beyond the stated thresholds in {points}."
