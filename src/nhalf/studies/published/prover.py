"""A record on trial: each published figure left out, asked of every engine, and judged.

An engine's answer is held against the figure as it is; and, where an engine answers several figures
of one pattern, against what it makes of the others: an error that all of them share is the
engine's, one that a figure has alone is its own.

Tolerances are how far answers are from figures that are right, by kind of question. A factor is the
largest by which an answer misses a figure of a machine of record, rounded up; of what is read back,
more than the digits of publications leave open (docs/benchmarks/records.md).
"""

import math
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import msgspec
from msgspec.structs import replace

from nhalf.base.operations import NATIVE
from nhalf.decide.engine_names import ENGINES, MODEL
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from nhalf.measure.loop.progress import Progress
from nhalf.studies.engines.agreement import Agreement, ComparedCell, compare
from nhalf.studies.engines.answers import Cell, Times, asked
from nhalf.studies.published import figures as kinds
from nhalf.studies.published.figures import COLLECTIVES, Figure, figures
from nhalf.studies.published.limits import Alarm, beyond_limits
from nhalf.studies.published.model_answers import ModelAnswers, answered, blocks_of, cells_of


class FigureTolerance(NamedTuple):
    """The factor by which an answer may miss a figure, and miss it beside its siblings."""

    alone_ratio: float
    sibling_ratio: float


TOLERANCES = {
    kinds.READ_BACK: FigureTolerance(1.02, 1.02),
    kinds.ONE_WAY: FigureTolerance(1.25, 1.25),
    kinds.BOTH_WAYS: FigureTolerance(1.15, 1.15),
    kinds.MODES: FigureTolerance(3.5, 3.5),
    kinds.FANS: FigureTolerance(2.7, 2.5),
    kinds.COLLECTIVES: FigureTolerance(3, 2.1),
    kinds.TOGETHER: FigureTolerance(1.65, 1.65),
}
SIBLINGS_LEAST = 2
"""A median of fewer other figures tells nothing."""


class KnownMiss(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """Figures that do not follow from their machine's messages: by which ratios, and why."""

    machine: str
    pattern: str
    placement: str = ""
    least_ratio: float
    greatest_ratio: float
    why: str


def known_miss(machine: str, figure: Figure) -> KnownMiss | None:
    """What is known of a figure that does not follow from messages; None if it should."""
    name, point = machine.partition(" (")[0], figure.point
    for miss in known_misses():
        is_there = miss.placement in ("", point.placement)
        if (miss.machine, miss.pattern) == (name, point.pattern) and is_there:
            return miss
    return None


@cache
def known_misses() -> tuple[KnownMiss, ...]:
    """What does not fit together in the machines of record."""
    content = (Path(__file__).parent / "known.toml").read_bytes()
    return msgspec.toml.decode(content, type=dict[str, tuple[KnownMiss, ...]])["known"]


FigureCells = Mapping[Figure, tuple[Cell, ...]]
Values = Mapping[Figure, Mapping[str, float]]
"""An engine's values of figures, by algorithm."""


@dataclass(frozen=True)
class Answer:
    """What an engine says of a figure: in its unit, over the published value, and beside siblings.

    `sibling_ratio` is the ratio over the median of its siblings' ratios; None without enough.
    """

    value: float
    ratio: float
    algorithm: str = NATIVE
    sibling_ratio: float | None = None


@dataclass(frozen=True)
class JudgedFigure:
    """A figure, the answers by engine, and why it is known not to fit, if it is."""

    figure: Figure
    answers: Mapping[str, Answer]
    miss: KnownMiss | None = None

    @property
    def judges(self) -> dict[str, Answer]:
        """The answers that count: today's libraries do not take the algorithms of their time."""
        has_choice = "algorithm=" not in self.figure.point.axes
        is_own_choice = self.figure.kind == COLLECTIVES and has_choice
        engines = (MODEL,) if is_own_choice else ENGINES
        return {engine: self.answers[engine] for engine in engines if engine in self.answers}

    def alarms(self) -> list[Alarm]:
        """What every engine that counts says against the figure; nothing if it suits one."""
        doubts = [self._doubt(engine, answer) for engine, answer in self.judges.items()]
        return [] if None in doubts else [doubt for doubt in doubts if doubt is not None]

    def _doubt(self, engine: str, answer: Answer) -> Alarm | None:
        """Whether an answer is farther away than any of a figure that is right."""
        allowed, words = TOLERANCES[self.figure.kind], self.figure.words
        low, high = 1 / allowed.alone_ratio, allowed.alone_ratio
        if self.miss:
            low, high = self.miss.least_ratio, self.miss.greatest_ratio
        if self._is_beyond(answer.ratio, low, high):
            return Alarm(words, engine, answer.ratio, "times the published")
        beside, most = answer.sibling_ratio, allowed.sibling_ratio
        if beside is None or self.miss or not self._is_beyond(beside, 1 / most, most):
            return None
        return Alarm(words, engine, beside, "times the published, beside others of the pattern")

    def _is_beyond(self, ratio: float, low: float, high: float) -> bool:
        """Whether a ratio is not in a range; bounds are missed on one side only."""
        too_low, too_high = ratio < low, ratio > high
        return (too_low or too_high, too_low, too_high)[self.figure.bound]

    def as_json(self) -> dict[str, Any]:
        """A row for --json; null where an engine has no answer."""
        figure, answers = self.figure, self.answers
        return {
            "figure": figure.words,
            "kind": figure.kind,
            "unit": figure.unit,
            "bound": figure.bound_words,
            "is_ceiling": figure.is_ceiling,
            "published": figure.value,
            **{name: asdict(answers[name]) if name in answers else None for name in ENGINES},
            "reason": self.miss.why if self.miss else "",
        }


@dataclass(frozen=True)
class Trial:
    """All figures of a machine with their answers, where engines differ, and what cannot be."""

    machine: str
    rows: tuple[JudgedFigure, ...]
    agreement: Agreement
    alarms: tuple[Alarm, ...]

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf machines check --published --json`."""
        rows = [row.as_json() for row in self.rows]
        alarms = [alarm._asdict() for alarm in self.alarms]
        return {**self.agreement.as_json(), "figures": rows, "alarms": alarms}


def prove(
    machine: Machine,
    engines: Sequence[str] = (MODEL,),
    mpi: str = "",
    progress: Progress | None = None,
) -> Trial:
    """Ask engines for every published figure of a machine without that figure, and judge it.

    One that is not installed is named in `missing` of the agreement.
    """
    cells = {figure: cells_of(machine, figure) for figure in figures(machine) if figure.value > 0}
    # Engines that run programs know the messages alone.
    alone = Messages(replace(machine, points=(), patterns=(), operations=()))
    blocks = blocks_of(cell for figure_cells in cells.values() for cell in figure_cells)
    progress = progress or Progress(quiet=True)
    times_s, missing = asked(alone, blocks, engines if blocks else (), mpi, progress)
    model = ModelAnswers(machine)
    judged: dict[str, dict[Figure, Answer]] = {}
    if MODEL in engines:
        composed = {figure: model.of(figure) for figure in cells}
        judged[MODEL] = _judged({figure: values for figure, values in composed.items() if values})
    for engine, times in times_s.items():
        values = {figure: answered(figure, cells[figure], times) for figure in cells}
        judged[engine] = _judged(
            {figure: {NATIVE: value} for figure, value in values.items() if value is not None}
        )
    rows = [
        JudgedFigure(
            figure,
            {name: answers[figure] for name, answers in judged.items() if figure in answers},
            known_miss(machine.name, figure),
        )
        for figure in cells
    ]
    alarms = (*beyond_limits(machine), *(alarm for row in rows for alarm in row.alarms()))
    agreement = Agreement(machine.name, _compared(model, cells, times_s), missing)
    return Trial(machine.name, tuple(rows), agreement, alarms)


def _judged(values: Values) -> dict[Figure, Answer]:
    """The answers to all figures by one engine, each beside those to its siblings."""
    families: dict[tuple[str, ...], list[Figure]] = {}
    for figure in values:
        families.setdefault(_family(figure), []).append(figure)
    answers = {}
    for members in families.values():
        algorithm = _best_algorithm(members, values)
        ratios = {figure: values[figure][algorithm] / figure.value for figure in members}
        for figure, ratio in ratios.items():
            siblings = [
                ratios[member] for member in members if member != figure and not member.bound
            ]
            beside = None
            if len(siblings) >= SIBLINGS_LEAST:
                beside = ratio / math.exp(statistics.median(map(math.log, siblings)))
            answers[figure] = Answer(values[figure][algorithm], ratio, algorithm, beside)
    return answers


def _family(figure: Figure) -> tuple[str, ...]:
    """What siblings have in common; published rates and times have nothing."""
    point = figure.point
    axes = point.axes if point.axes.startswith(("algorithm=", "to=uniform")) else ""
    statement = point.what if figure.is_formula else ""
    return figure.kind, point.pattern, point.placement, axes, figure.unit, statement


def _best_algorithm(members: Sequence[Figure], values: Values) -> str:
    """The algorithm that comes nearest to most figures of a pattern, of those that have all."""
    names = [name for name in values[members[0]] if all(name in values[key] for key in members)]

    def miss(name: str) -> float:
        return statistics.median(abs(math.log(values[key][name] / key.value)) for key in members)

    return min(names, key=miss)


def _compared(
    model: ModelAnswers, cells: FigureCells, times_s: dict[str, Times]
) -> tuple[ComparedCell, ...]:
    """The cells that two engines or more answered; the model answers one algorithm, if any."""
    if not times_s:
        return ()
    placements = {cell: figure.point.placement for figure in cells for cell in cells[figure]}
    composed: Times = {}
    for cell, placement in placements.items():
        by_algorithm = model.times_s(cell, placement)
        if len(by_algorithm) == 1:
            composed[cell] = next(iter(by_algorithm.values()))
    everyone = {**times_s, MODEL: composed}
    compared = (compare(model.machine, cell, everyone, {}) for cell in placements)
    return tuple(cell for cell in compared if cell is not None)
