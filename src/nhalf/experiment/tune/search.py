"""The search: a first screening of every algorithm, then a race of those that may win.

The screening (one short launch of each) only decides which algorithms race; tests use only the
race's launches. A race continues in rounds of interleaved launches, in undecided cells and with
unbeaten algorithms, until all cells are decided or the time is up.

Where to tune first: cells in which a run violates performance guidelines, and with what.

A violated guideline says that something faster exists: the mock-up. Algorithms that do the same as
it by name (facts/guidelines.py) are first candidates, which race however the screening turns out.
"""

import math
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

from nhalf.base.errors import BudgetSpentError, FailedError, InputError, MissingError
from nhalf.experiment.race import (
    ALIKE,
    AlgorithmGain,
    TuningCell,
    fewest_switches,
    gains,
    merge,
    scouted,
    still_racing,
    winners,
)
from nhalf.experiment.tune.bench import LibraryBench, MeasuredTimes
from nhalf.facts.facts import Facts
from nhalf.facts.guidelines import Verdict, violations
from nhalf.measure.plan.plan import Block, sizes_of, sizes_text
from nhalf.mpi.decision_table import NATIVE, Rule, rules_of
from nhalf.mpi.tuner import Tuner


@dataclass(frozen=True)
class ViolatedCells:
    """Operations, ranks and sizes with a violation, the worst operation first."""

    operations: tuple[str, ...]
    ranks: tuple[int, ...]
    sizes_bytes: tuple[int, ...]
    first: Mapping[str, tuple[str, ...]]
    """Algorithms by operation, as libraries call them, without the sizes of segments."""


def violated_cells(facts: Facts, tuner: Tuner) -> ViolatedCells:
    """The cells of a tuner's library that its own choice can be changed in.

    Raises FailedError if there is none, InputError if the run does not have the library.
    """
    name = tuner.library.name
    verdicts = [
        verdict
        for verdict in violations(facts.restricted(mpi=name))
        if verdict.mpi == name and tuner.algorithms(verdict.mock_up.operation)
    ]
    if not verdicts:
        raise FailedError(
            f"{name} violates no performance guideline there that its algorithms could fix",
            "leave out --violated to search everywhere",
        )
    operations = tuple(dict.fromkeys(verdict.mock_up.operation for verdict in verdicts))
    return ViolatedCells(
        operations,
        tuple(sorted({verdict.ranks for verdict in verdicts})),
        tuple(sorted({verdict.size_bytes for verdict in verdicts})),
        {operation: _first(verdicts, operation) for operation in operations},
    )


def _first(verdicts: Sequence[Verdict], operation: str) -> tuple[str, ...]:
    mock_ups = [verdict.mock_up for verdict in verdicts if verdict.mock_up.operation == operation]
    return tuple(dict.fromkeys(name for mock_up in mock_ups for name in mock_up.algorithms))


def is_first(first: Mapping[str, Sequence[str]], operation: str, algorithm: str) -> bool:
    """Whether an algorithm, with or without the size of its segments, is a first candidate."""
    return algorithm.partition(":")[0] in first.get(operation, ())


ROUNDS_MAX = 20
LAUNCHES_PER_ROUND = 3
SCOUT_SHARE, RACE_SHARE, PROOF_SHARE, TRIAL_SHARE = 0.25, 0.4, 0.1, 0.25
"""Shares of the time for the screening, the race, the proof and the last comparison. Where the
screening is exact it has the time of the race."""


@dataclass(frozen=True)
class TuningRequest:
    """The cells to decide, and the limits; `first` are candidates by operation that always race."""

    operations: tuple[str, ...]
    ranks: tuple[int, ...]
    sizes: str
    least_share: float
    budget_s: float
    first: Mapping[str, tuple[str, ...]] = field(default_factory=dict)


@dataclass(frozen=True)
class SearchResult:
    """The results of the search: the screening, the race, and the winners of each cell."""

    screening: MeasuredTimes
    race: MeasuredTimes
    won: dict[TuningCell, list[AlgorithmGain]]
    undecided: list[TuningCell]


def search(bench: LibraryBench, request: TuningRequest) -> SearchResult:
    """Screen every algorithm and race those that may win; an exact screening is the race.

    Raises MissingError if the library offers no choice for the operations.
    """
    screening = screen_algorithms(bench, request)
    if bench.is_exact:
        won = {
            cell: [replace(gain, launches=1) for gain in gains_of_cell]
            for cell, gains_of_cell in winners(gains(screening), request.least_share).items()
        }
        return SearchResult(screening, screening, won, [])
    racing = _with_first(scouted(screening), screening, request)
    race: MeasuredTimes = {}
    began_s, share_s = time.monotonic(), RACE_SHARE * request.budget_s
    for number in range(ROUNDS_MAX):
        left_s = share_s - (time.monotonic() - began_s)
        if not racing or left_s <= 0:
            break
        rounds = max(1, min(3, ROUNDS_MAX - number))
        try:
            more = race_round(bench, racing, f"race-{number + 1}", left_s / rounds)
        except (BudgetSpentError, MissingError):
            if not race:
                raise
            break  # the time was up before its first point
        race = merge([race, more])
        racing = {
            cell: names
            for cell, names in still_racing(race, request.least_share).items()
            if cell in racing
        }
    # Tested once, at the end: tests after every round would accumulate error probability.
    race, screening = (_of_right_data(bench, times) for times in (race, screening))
    # Sizes that rounding changed were not screened.
    screened = {cell: race[cell] for cell in race if cell in screening}
    won = winners(gains(screened), request.least_share)
    return SearchResult(screening, race, won, sorted(set(racing) - set(won)))


def _with_first(
    racing: Mapping[TuningCell, list[str]], screening: MeasuredTimes, request: TuningRequest
) -> dict[TuningCell, list[str]]:
    """The race with the first candidates, whose screening may have been disturbed."""
    more = {
        cell: [name for name in times if is_first(request.first, cell.operation, name)]
        for cell, times in screening.items()
    }
    joined = {
        cell: list(dict.fromkeys([*racing.get(cell, ()), *names])) for cell, names in more.items()
    }
    return {cell: names for cell, names in joined.items() if names}


def _of_right_data(bench: LibraryBench, times: MeasuredTimes) -> MeasuredTimes:
    """The times without algorithms that delivered wrong data in any run, at any size."""
    return {
        cell: {
            name: launches
            for name, launches in algorithms.items()
            if (cell.operation, name) not in bench.refused
        }
        for cell, algorithms in times.items()
    }


def screen_algorithms(bench: LibraryBench, request: TuningRequest) -> MeasuredTimes:
    """One launch of every algorithm that differs at a size, in whichever state of the machine."""
    names_by_group = {
        (operation, ranks): [
            name
            for name in bench.tuner.algorithms(operation)
            if bench.tuner.suits(operation, name, ranks)
            and bench.tuner.writable(operation, name)
            and any(
                bench.tuner.differs(operation, name, size)
                for size in _sizes(operation, request.sizes, ranks)
            )
        ]
        for operation in request.operations
        for ranks in request.ranks
    }
    if not any(names_by_group.values()):
        raise MissingError(
            f"{bench.library.name} offers no choice for {', '.join(request.operations)}",
            "name other operations",
        )
    slots = _slots(bench.tuner, {key: [names] for key, names in names_by_group.items()})
    blocks = [
        Block(
            [operation],
            [ranks],
            request.sizes,
            launches=1,
            settings=["", *_settings(slots, operation, names)],
        )
        for (operation, ranks), names in names_by_group.items()
        if names
    ]
    share = SCOUT_SHARE + RACE_SHARE if bench.is_exact else SCOUT_SHARE
    budget_s = share * request.budget_s
    variables = _variables(bench, slots)
    medians = bench.measure("look", blocks, variables, budget_s, elsewhere=True)
    return {
        cell: {
            name: launches
            for name, launches in times.items()
            if name == NATIVE or bench.tuner.differs(cell.operation, name, cell.size_bytes)
        }
        for cell, times in bench.times("look", medians, slots).items()
    }


def _sizes(operation: str, sizes: str, ranks: int) -> Sequence[int]:
    """The sizes of an operation, in bytes: 0 of a barrier."""
    return (0,) if operation == "barrier" else sizes_of(sizes, ranks).size_bytes


def race_round(
    bench: LibraryBench, racing: Mapping[TuningCell, Sequence[str]], name: str, budget_s: float
) -> MeasuredTimes:
    """Some launches of the algorithms still in the race, and of the library's own choice."""
    groups: dict[tuple[str, int, tuple[str, ...]], list[int]] = {}
    names_by_group: dict[tuple[str, int], list[Sequence[str]]] = {}
    for cell, names in racing.items():
        key = (cell.operation, cell.ranks, tuple(sorted(names)))
        groups.setdefault(key, []).append(cell.size_bytes)
        names_by_group.setdefault((cell.operation, cell.ranks), []).append(names)
    slots = _slots(bench.tuner, names_by_group)
    blocks = [
        Block(
            [operation],
            [ranks],
            sizes_text(sizes),
            launches=LAUNCHES_PER_ROUND,
            weight=len(sizes) * (len(names) + 1),
            settings=["", *_settings(slots, operation, names)],
        )
        for (operation, ranks, names), sizes in groups.items()
    ]
    medians = bench.measure(name, blocks, _variables(bench, slots), budget_s)
    return bench.times(name, medians, slots)


def with_stand_ins(
    tuner: Tuner, result: SearchResult, won: Mapping[TuningCell, list[AlgorithmGain]]
) -> dict[TuningCell, list[AlgorithmGain]]:
    """The winners, and for other cells of their operations what is about as fast as the default.

    Only where a file with rules puts something else in place of the library's own choice.
    """
    names: dict[str, set[str]] = {}
    for cell, winners_of_cell in won.items():
        names.setdefault(cell.operation, set()).update(gain.algorithm for gain in winners_of_cell)
    operations = {
        operation
        for operation in names
        if not tuner.keeps_own_beside(operation, sorted(names[operation]))
    }
    choices: dict[TuningCell, list[AlgorithmGain]] = {}
    for gain in gains(merge([result.screening, result.race])):
        is_other = gain.cell.operation in operations and gain.cell not in won
        if is_other and gain.log_ratio > -ALIKE:
            choices.setdefault(gain.cell, []).append(gain)
    return {**choices, **won}


def rules_for(
    tuner: Tuner, won: Mapping[TuningCell, Sequence[AlgorithmGain]], cells: Sequence[TuningCell]
) -> list[Rule]:
    """Rules for the winners, with few switches; sizes between two of the grid go to the smaller.

    Cells without a winner keep the library's own choice, as do numbers of ranks between the
    measured ones for which an algorithm does not work. What the file cannot express is left out.
    """
    rules: list[Rule] = []
    for operation in dict.fromkeys(cell.operation for cell in cells):
        own = [cell for cell in cells if cell.operation == operation]
        ranks = sorted({cell.ranks for cell in own})
        sizes = sorted({cell.size_bytes for cell in own})
        options = {
            (number, size): {
                gain.algorithm: gain.log_ratio
                for gain in won.get(TuningCell(operation, number, size), ())
            }
            for number in ranks
            for size in sizes
        }
        allowed = tuner.together(operation, options)
        chosen = [fewest_switches([allowed[number, size] for size in sizes]) for number in ranks]
        rules += rules_of(operation, ranks, sizes, chosen)
    return tuner.expressible([part for rule in rules for part in _where_it_works(tuner, rule)])


def _where_it_works(tuner: Tuner, rule: Rule) -> list[Rule]:
    """A rule for only those numbers of ranks with which its algorithm works."""
    if not math.isfinite(rule.to_ranks):
        return [rule]
    spans: list[list[int]] = []
    for ranks in range(rule.from_ranks, int(rule.to_ranks) + 1):
        if not tuner.suits(rule.operation, rule.algorithm, ranks):
            continue
        if spans and spans[-1][1] == ranks - 1:
            spans[-1][1] = ranks
        else:
            spans.append([ranks, ranks])
    return [replace(rule, from_ranks=first, to_ranks=last) for first, last in spans]


def slowest(times: MeasuredTimes) -> list[tuple[TuningCell, str, float]]:
    """Cells with an algorithm and how many times longer it took than the library's own choice.

    The largest first, each cell and operation once.
    """
    slowest_cells = []
    for cell, algorithms in times.items():
        own_s = _middle(algorithms.get(NATIVE, {}))
        factors = {
            name: _middle(launches) / own_s
            for name, launches in algorithms.items()
            if name != NATIVE and own_s
        }
        if factors:
            name = max(factors, key=factors.__getitem__)
            slowest_cells.append((cell, name, factors[name]))
    return sorted(slowest_cells, key=lambda entry: -entry[2])


def check_operations(tuner: Tuner, operations: Sequence[str]) -> None:
    """Raises InputError for an unknown operation, or one that cannot be tuned for a library."""
    for name in operations:
        if not tuner.algorithms(name):
            raise InputError(
                f"{tuner.library.name} offers no choice of algorithm for {name!r}",
                "name operations such as bcast, allreduce",
            )


def _slots(
    tuner: Tuner, names_by_group: Mapping[tuple[str, int], Sequence[Sequence[str]]]
) -> dict[tuple[str, str], str]:
    """Settings that each force one algorithm of every operation, to keep their number small."""
    union: dict[str, dict[str, None]] = {}
    for (operation, _), lists in names_by_group.items():
        for names in lists:
            union.setdefault(operation, {}).update(dict.fromkeys(names))
    return {
        (operation, f"{operation if tuner.stands_alone(name) else 'choice'}-{place + 1}"): name
        for operation, names in union.items()
        for place, name in enumerate(names)
    }


def _settings(
    slots: Mapping[tuple[str, str], str], operation: str, names: Sequence[str]
) -> list[str]:
    """The settings that force these algorithms of an operation."""
    return [
        key
        for (forced_operation, key), name in slots.items()
        if forced_operation == operation and name in names
    ]


def _variables(
    bench: LibraryBench, slots: Mapping[tuple[str, str], str]
) -> dict[str, dict[str, str]]:
    """The variables of every setting."""
    chosen: dict[str, dict[str, str]] = {}
    for (operation, key), name in slots.items():
        chosen.setdefault(key, {})[operation] = name
    return {key: bench.tuner.force(operations) for key, operations in chosen.items()}


def _middle(launches: Mapping[tuple[str, int], float]) -> float:
    values = sorted(launches.values())
    return values[len(values) // 2] if values else 0.0
