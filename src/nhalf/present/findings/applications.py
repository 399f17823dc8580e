"""Findings on applications by library, programming model, ranks and shape."""

from collections.abc import Callable, Iterable, Iterator

from nhalf.base.listing import few, ranks_text
from nhalf.base.numbers import percent, times
from nhalf.facts.applications import Race, growth, part_races, pattern_of, series_races, shape_races
from nhalf.facts.difference import FASTER
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import between, ends, weight
from nhalf.statistics.intervals import Interval

KERNELS_MAX = 4
PLACES_MAX = 3


class Applications(Finder[Facts]):
    """Where one library, programming model or shape runs applications faster than another."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        kind, label = "application-library", "Applications"
        yield from _findings(series_races(facts), _workers, kind, label)
        kind, label = "application-shape", "Shapes of applications"
        yield from _findings(shape_races(facts), _library_and_ranks, kind, label)


def _workers(race: Race) -> str:
    is_single = race.place["workers"] == 1
    return f"on {race.place['workers']} {'rank or thread' if is_single else 'ranks or threads'}"


def _library_and_ranks(race: Race) -> str:
    is_single = race.place["workers"] == 1
    return f"{race.place['series']}, {race.place['workers']} {'rank' if is_single else 'ranks'}"


def _findings(
    races: Iterable[Race], place: Callable[[Race], str], kind: str, label: str
) -> Iterator[Finding]:
    """A sentence for each winner over another in a run: where it wins most, and where besides."""
    won: dict[tuple[object, str, str], list[Race]] = {}
    for race in races:
        for direction in (race, race.reversed):
            if direction.wins():
                won.setdefault(
                    (direction.place["run"], direction.first, direction.second), []
                ).append(direction)
    for races_won in won.values():
        first, *further = sorted(races_won, key=lambda race: -_largest_win(race)[1].median)
        elsewhere = [
            f"{place(race)} ({_largest_win(race)[0]} {times(_largest_win(race)[1].median)})"
            for race in further
        ]
        likewise = f" Likewise {few(elsewhere, PLACES_MAX)}." if elsewhere else ""
        yield _applications_finding(first, place(first), likewise, kind, label)


def _largest_win(race: Race) -> tuple[str, Interval]:
    """The kernel that the second wins by most."""
    return next(iter(race.wins().items()))


def _applications_finding(race: Race, place: str, likewise: str, kind: str, label: str) -> Finding:
    wins = list(race.wins())
    most, ratio = _largest_win(race)
    also = f" Also faster in {few(wins[1:], KERNELS_MAX)}." if len(wins) > 1 else ""
    text = (
        f"{race.second} runs {most} {times(ratio.median)} as fast as {race.first}, {place} "
        f"({between(ratio)}).{also}{likewise}"
    )
    importance = weight(ratio.median, 54, 72)
    return Finding(text, importance, kind, label=label, interval=ratio, pattern=pattern_of(most))


class ApplicationParts(Finder[Facts]):
    """How a replaced barrier or decision table affects applications."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for race in part_races(facts):
            library = str(race.place["library"])
            title = f"{facts.titles.get(library, library)}, {ranks_text(race.place['workers'])}"
            for speed, direction in (("fast", race), ("slow", race.reversed)):
                wins = direction.wins()
                if wins:
                    yield _changed(title, race.second, speed, wins)
            unchanged = [
                name
                for name, ratio in race.ratios.items()
                if ratio.low > 1 / FASTER and ratio.high < FASTER
            ]
            if unchanged:
                yield _unchanged(title, race, unchanged)


def _changed(title: str, part: str, speed: str, wins: dict[str, Interval]) -> Finding:
    most, ratio = next(iter(wins.items()))
    also = f" Also {few(list(wins)[1:], KERNELS_MAX)}." if len(wins) > 1 else ""
    return Finding(
        f"{title}: with {part}, {most} is {times(ratio.median)} as {speed} as with the "
        f"library's own ({between(ratio)}).{also}",
        importance=weight(ratio.median, 55, 70),
        kind="application-part",
        label="Exchanged parts",
        interval=ratio,
        pattern=pattern_of(most),
    )


def _unchanged(title: str, race: Race, kernels: list[str]) -> Finding:
    widest = max((race.ratios[name] for name in kernels), key=lambda ratio: ratio.half_width)
    text = (
        f"{title}: {race.second} instead of the library's own changes {few(kernels, KERNELS_MAX)} "
        f"by less than {percent(FASTER - 1)} (widest interval {ends(widest)})."
    )
    kind = "application-part-same"
    return Finding(text, 44, kind, label="Exchanged parts", figure="no change", interval=widest)


HALF_WIDTH_MAX = 0.25
"""A speed-up with a wider interval is not reported."""


class ApplicationSpeedup(Finder[Facts]):
    """Which kernels scale with ranks or threads, and which do not."""

    def find(self, facts: Facts) -> Iterator[Finding]:
        for race in growth(facts):
            finding = _application_speedup_finding(race)
            if finding:
                yield finding


def _application_speedup_finding(race: Race) -> Finding | None:
    precise = {
        name: ratio for name, ratio in race.ratios.items() if ratio.half_width <= HALF_WIDTH_MAX
    }
    if not precise:
        return None
    ordered = sorted(precise.items(), key=lambda item: item[1].median)
    (worst, low), (best, high) = ordered[0], ordered[-1]
    but = "" if worst == best else f", {worst} {times(low.median)} ({between(low)})"
    text = (
        f"{race.place['series']}, from {race.first} to {race.second} ranks or threads: {best} is "
        f"{times(high.median)} as fast ({between(high)}){but}."
    )
    return Finding(
        text, 52, "application-speedup", label="Speed-up", interval=low, pattern=pattern_of(worst)
    )
