"""A record on trial: each published figure left out, asked of every engine, and judged.

An engine's answer is held against the figure as it is; and, where an engine answers several figures
of one pattern, against what it makes of the others: an error that all of them share is the
engine's, one that a figure has alone is its own.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any

from msgspec.structs import replace

from nhalf.base.errors import MissingError
from nhalf.base.operations import NATIVE
from nhalf.decide.engines.agreement import Agreement, ComparedCell, compare
from nhalf.decide.engines.answers import Times, by_library, by_simgrid
from nhalf.decide.engines.cells import Cell
from nhalf.decide.engines.names import ENGINES, LIBRARY, MODEL, SIMGRID
from nhalf.decide.published.figures import COLLECTIVES, Figure, figures
from nhalf.decide.published.limits import Alarm, beyond_limits
from nhalf.decide.published.model_answers import ModelAnswers
from nhalf.decide.published.questions import answered, blocks_of, cells_of
from nhalf.decide.published.tolerances import SIBLINGS_LEAST, TOLERANCES, Known, known
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from nhalf.measure.loop.progress import Progress

Group = tuple[str, str, str, str]


@dataclass(frozen=True)
class Answer:
    """What an engine says of a figure: in its unit, over the published value, and beside siblings.

    `apart` is the ratio over the median of its siblings' ratios; None without enough of them.
    """

    value: float
    ratio: float
    algorithm: str = NATIVE
    apart: float | None = None


@dataclass(frozen=True)
class Row:
    """A figure, the answers by engine, and why it is known not to fit, if it is."""

    figure: Figure
    answers: Mapping[str, Answer]
    known: Known | None = None

    @property
    def judges(self) -> dict[str, Answer]:
        """The answers that count: today's libraries do not take the algorithms of their time."""
        is_own_choice = (
            self.figure.kind == COLLECTIVES and "algorithm=" not in self.figure.point.axes
        )
        engines = (MODEL,) if is_own_choice else ENGINES
        return {engine: self.answers[engine] for engine in engines if engine in self.answers}

    def alarms(self) -> list[Alarm]:
        """What every engine that counts says against the figure; nothing if it suits one."""
        found = [self._doubt(engine, given) for engine, given in self.judges.items()]
        doubts = [alarm for alarm in found if alarm is not None]
        return doubts if len(doubts) == len(found) else []

    def _doubt(self, engine: str, given: Answer) -> Alarm | None:
        """Whether an answer is farther away than any of a figure that is right."""
        allowed, words = TOLERANCES[self.figure.kind], self.figure.words
        low, high = self.known.ratios if self.known else (1 / allowed.alone, allowed.alone)
        if self._is_beyond(given.ratio, low, high):
            return Alarm(words, engine, given.ratio, "times the published")
        apart, most = given.apart, allowed.siblings
        if apart is None or self.known or not self._is_beyond(apart, 1 / most, most):
            return None
        return Alarm(words, engine, apart, "times the published, beside others of the pattern")

    def _is_beyond(self, ratio: float, low: float, high: float) -> bool:
        """Whether a ratio is outside of a range; bounds are missed on one side only."""
        too_low, too_high = ratio < low, ratio > high
        return (too_low or too_high, too_low, too_high)[self.figure.bound]

    def as_json(self) -> dict[str, Any]:
        """A row for --json; null where an engine has no answer."""
        figure = self.figure
        return {
            "figure": figure.words,
            "kind": figure.kind,
            "unit": figure.unit,
            "bound": figure.bound_words,
            "is_ceiling": figure.is_ceiling,
            "published": figure.value,
            **{
                engine: asdict(self.answers[engine]) if engine in self.answers else None
                for engine in ENGINES
            },
            "reason": self.known.why if self.known else "",
        }


@dataclass(frozen=True)
class Trial:
    """All figures of a machine with their answers, where engines differ, and what cannot be."""

    machine: str
    rows: tuple[Row, ...]
    agreement: Agreement
    alarms: tuple[Alarm, ...]

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf machines check --published --json`."""
        figures = [row.as_json() for row in self.rows]
        alarms = [alarm._asdict() for alarm in self.alarms]
        return {**self.agreement.as_json(), "figures": figures, "alarms": alarms}


def prove(
    machine: Machine,
    engines: Sequence[str] = (MODEL,),
    mpi: str = "",
    progress: Progress | None = None,
) -> Trial:
    """Ask engines for every published figure of a machine without that figure, and judge it.

    One that is not installed is named in `missing` of the agreement.
    """
    asked = [figure for figure in figures(machine) if figure.value > 0]
    cells = {figure: cells_of(machine, figure) for figure in asked}
    times_s, missing = _engine_times(machine, cells, engines, mpi, progress or Progress(quiet=True))
    found = {
        engine: {
            figure: {NATIVE: value}
            for figure in asked
            if (value := answered(figure, cells[figure], times)) is not None
        }
        for engine, times in times_s.items()
    }
    model = ModelAnswers(machine)
    if MODEL in engines:
        found[MODEL] = {figure: given for figure in asked if (given := model.of(figure))}
    judged = {engine: _judged(given) for engine, given in found.items()}
    rows = []
    for figure in asked:
        answers = {engine: judged[engine].get(figure) for engine in ENGINES if engine in judged}
        known_ones = {engine: given for engine, given in answers.items() if given}
        rows.append(Row(figure, known_ones, known(machine.name, figure)))
    alarms = (*beyond_limits(machine), *(alarm for row in rows for alarm in row.alarms()))
    agreement = Agreement(machine.name, _compared(model, cells, times_s), missing)
    return Trial(machine.name, tuple(rows), agreement, alarms)


def _engine_times(
    machine: Machine,
    cells: Mapping[Figure, tuple[Cell, ...]],
    engines: Sequence[str],
    mpi: str,
    progress: Progress,
) -> tuple[dict[str, Times], dict[str, str]]:
    """Times by engine that runs programs, which knows the messages alone; and who is missing."""
    alone = Messages(replace(machine, points=(), patterns=(), operations=()))
    blocks = blocks_of(cell for each in cells.values() for cell in each)
    ask: dict[str, Callable[[], Times]] = {
        LIBRARY: lambda: by_library(alone, blocks, mpi, progress),
        SIMGRID: lambda: by_simgrid(alone, blocks, progress),
    }
    times_s: dict[str, Times] = {}
    missing: dict[str, str] = {}
    for engine in (name for name in ask if name in engines and blocks):
        try:
            times_s[engine] = ask[engine]()
        except MissingError as error:
            missing[engine] = str(error)
    return times_s, missing


def _judged(found: Mapping[Figure, Mapping[str, float]]) -> dict[Figure, Answer]:
    """The answers to all figures by one engine, each beside those to its siblings."""
    groups: dict[Group, list[Figure]] = {}
    for figure in found:
        groups.setdefault(_group(figure), []).append(figure)
    judged = {}
    for members in groups.values():
        algorithm = _best_algorithm(members, found)
        ratios = {figure: found[figure][algorithm] / figure.value for figure in members}
        for figure, ratio in ratios.items():
            others = [other for each, other in ratios.items() if each != figure and not each.bound]
            is_enough = len(others) >= SIBLINGS_LEAST
            apart = ratio / _geometric_median(others) if is_enough else None
            judged[figure] = Answer(found[figure][algorithm], ratio, algorithm, apart)
    return judged


def _group(figure: Figure) -> Group:
    """What siblings have in common."""
    point = figure.point
    axes = point.axes if point.axes.startswith("algorithm=") else ""
    # Of a published rate and a published time nothing is common.
    what = point.what if figure.is_formula else ""
    return figure.kind + point.pattern, point.placement, axes + figure.unit, what


def _best_algorithm(members: Sequence[Figure], found: Mapping[Figure, Mapping[str, float]]) -> str:
    """The algorithm that comes nearest to most figures of a pattern, of those that have all."""
    names = [name for name in found[members[0]] if all(name in found[each] for each in members)]

    def miss(name: str) -> float:
        return statistics.median(
            abs(math.log(found[figure][name] / figure.value)) for figure in members
        )

    return min(names, key=miss)


def _geometric_median(ratios: Sequence[float]) -> float:
    return math.exp(statistics.median(map(math.log, ratios)))


def _compared(
    model: ModelAnswers,
    cells: Mapping[Figure, tuple[Cell, ...]],
    times_s: dict[str, Times],
) -> tuple[ComparedCell, ...]:
    """The cells that two engines or more answered; the model answers one algorithm, if any."""
    asked = {cell: figure.point.placement for figure, each in cells.items() for cell in each}
    composed: Times = {}
    for cell, placement in asked.items() if times_s else ():
        found = model.times_s(cell, placement)
        if len(found) == 1:
            composed[cell] = next(iter(found.values()))
    everyone = {**times_s, MODEL: composed}
    found = (compare(model.machine, cell, everyone, {}) for cell in asked)
    return tuple(each for each in found if each is not None)
