"""How far the answers of engines are apart in every canonical cell, and why."""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from nhalf.base.errors import MissingError
from nhalf.base.rows import members
from nhalf.decide.engine_names import ENGINES, MODEL, SIMGRID
from nhalf.decide.ways import UNSIZED
from nhalf.machines.machine import Machine
from nhalf.machines.message import Messages
from nhalf.machines.one_wire import MESSAGES, shares_a_wire, waits_at_adapters
from nhalf.measure.loop.progress import Progress
from nhalf.studies.engines.answers import Cell, Times, asked, blocks_of, by_model, is_own_choice


class EngineGap(NamedTuple):
    """A cell in which engines are apart: on which machine, and whether the model has its answer
    from a publication or a fit of the very pattern.
    """

    machine: Machine
    cell: Cell
    is_published: bool


class Reason(NamedTuple):
    """Who is apart, where, and why, in a sentence."""

    engine: str
    holds: Callable[[EngineGap], bool]
    words: str


MODES = ("pingpong-ssend", "pingpong-bsend")
REASONS = (
    Reason(
        MODEL,
        lambda gap: gap.cell.pattern in MESSAGES and shares_a_wire(gap.machine),
        "model counts the messages of a barrier on a wire common to all nodes, as its study does",
    ),
    Reason(
        MODEL,
        lambda gap: gap.cell.pattern in UNSIZED and bool(waits_at_adapters(gap.machine)),
        "model lets messages of a barrier wait at adapters, as published",
    ),
    Reason(
        MODEL,
        lambda gap: gap.is_published,
        "model has the times of the pattern itself, which are not those of the ping-pong's curve",
    ),
    Reason(
        MODEL,
        lambda gap: gap.cell.pattern == "many-to-many",
        "model takes one round alone; those of a probe run into each other",
    ),
    Reason(
        SIMGRID,
        lambda gap: gap.cell.pattern in MODES,
        "SMPI has no protocol of its own for synchronous and buffered sends",
    ),
    Reason(
        SIMGRID,
        lambda gap: (gap.cell.pattern, gap.cell.algorithm) == ("alltoall", "linear"),
        "of messages that arrive at one time SimGrid lets others come in first",
    ),
)


def reasons(gap: EngineGap, outliers: Collection[str]) -> dict[str, str]:
    """The reasons that are known, by the engine that is apart."""
    words: dict[str, list[str]] = {}
    for cause in REASONS:
        if cause.engine in outliers and cause.holds(gap):
            words.setdefault(cause.engine, []).append(cause.words)
    return {engine: "; ".join(causes) for engine, causes in words.items()}


CLOSE = 0.02
"""Times that are at most this share apart agree."""


@dataclass(frozen=True)
class ComparedCell:
    """The answers in one cell: seconds by engine, what was published, and the reason of a gap."""

    cell: Cell
    times_s: Mapping[str, float]
    published_s: float | None = None
    reason: str = ""

    @property
    def spread(self) -> float:
        """The share by which the longest time exceeds the shortest; 0 of one alone."""
        shortest_s, longest_s = min(self.times_s.values()), max(self.times_s.values())
        if longest_s == shortest_s:
            return 0.0
        return longest_s / shortest_s - 1 if shortest_s > 0 else float("inf")

    @property
    def agrees(self) -> bool:
        """Whether all answers are within the tolerance."""
        return self.spread <= CLOSE

    def as_json(self) -> dict[str, Any]:
        """A row for --json; null where an engine has no answer."""
        cell = self.cell
        return {
            **members(cell, "pattern", "algorithm", "ranks", "placement"),
            "bytes": cell.size_bytes,
            **{f"{engine}_s": self.times_s.get(engine) for engine in ENGINES},
            **members(self, "published_s", "spread", "reason"),
        }


@dataclass(frozen=True)
class Agreement:
    """All cells that two engines or more answered, and why engines are missing."""

    machine: str
    cells: tuple[ComparedCell, ...]
    missing: Mapping[str, str]

    @property
    def apart(self) -> list[ComparedCell]:
        """The cells whose answers are apart, those without a reason first, widest first."""
        apart = [compared for compared in self.cells if not compared.agrees]
        return sorted(apart, key=lambda compared: (bool(compared.reason), -compared.spread))

    @property
    def unexplained(self) -> int:
        """How many cells are apart without a reason."""
        return sum(not compared.reason for compared in self.apart)

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf machines check --json`."""
        return {
            "machine": self.machine,
            "tolerance": CLOSE,
            "compared": len(self.cells),
            "apart": len(self.apart),
            "unexplained": self.unexplained,
            "missing": dict(self.missing),
            "cells": [compared.as_json() for compared in self.cells],
        }


class Inquiry(NamedTuple):
    """What is asked of whom: numbers of ranks, sizes, engines, and the library's name."""

    ranks: Sequence[int]
    sizes_bytes: Sequence[int]
    engines: Sequence[str] = ENGINES
    mpi: str = ""


def agreement(messages: Messages, inquiry: Inquiry, progress: Progress) -> Agreement:
    """Ask every engine and compare; one that is not installed is named in `missing`.

    Raises InputError if the machine has no room for the ranks, MissingError if fewer than two
    engines can answer.
    """
    blocks = blocks_of(messages, inquiry.ranks, inquiry.sizes_bytes)
    times_s, missing = asked(messages, blocks, inquiry.engines, inquiry.mpi, progress)
    cells = dict.fromkeys(cell for times in times_s.values() for cell in times)
    composed_s, published_s = by_model(messages, cells)
    if MODEL in inquiry.engines:
        times_s[MODEL] = composed_s
    if len(times_s) < 2:
        raise MissingError(
            "fewer than two engines can answer, so there is nothing to compare",
            "; ".join(missing.values()) or f"ask several of {', '.join(ENGINES)}",
        )
    compared = (compare(messages.machine, cell, times_s, published_s) for cell in cells)
    return Agreement(messages.machine.name, tuple(filter(None, compared)), missing)


def compare(
    machine: Machine, cell: Cell, times_s: Mapping[str, Times], published_s: Times
) -> ComparedCell | None:
    """The answers in a cell; None if there are not two that could be equal."""
    answers = {engine: times[cell] for engine, times in times_s.items() if cell in times}
    if len(answers) < 2 or is_own_choice(cell):
        return None
    published = published_s.get(cell)
    compared = ComparedCell(cell, answers, published)
    if compared.agrees:
        return compared
    gap = EngineGap(machine, cell, published is not None and answers.get(MODEL) == published)
    explained = reasons(gap, _outliers(answers))
    left_s = {engine: time_s for engine, time_s in answers.items() if engine not in explained}
    # A reason for one does not tell why the others differ.
    if left_s and not ComparedCell(cell, left_s).agrees:
        return compared
    return ComparedCell(cell, answers, published, "; ".join(explained.values()))


def _outliers(answers: Mapping[str, float]) -> set[str]:
    """The engines that are apart from all others; every one where no two agree."""

    def agrees(first_s: float, second_s: float) -> bool:
        return max(first_s, second_s) <= (1 + CLOSE) * min(first_s, second_s)

    # Each agrees with itself.
    return {
        engine
        for engine, time_s in answers.items()
        if sum(agrees(time_s, answer_s) for answer_s in answers.values()) == 1
    }
