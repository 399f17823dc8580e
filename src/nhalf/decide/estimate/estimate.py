"""The time of a program from its source: each rank's calls replayed, its loops by their bound.

No network is modelled here: the calls go where those of a trace go, through the same replay.
"""

import itertools
import math
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from nhalf.base.errors import InputError
from nhalf.decide.engine_names import MODEL, SIMGRID
from nhalf.decide.estimate.evaluation import Evaluation, SourceQuestion, computes, evaluated
from nhalf.decide.estimate.formula import OF_RANKS, Formula, Point, formula
from nhalf.decide.program.predict import guess_bounds, simulated_s
from nhalf.decide.program.replay import replay
from nhalf.facts.program.disturbance import undisturbed
from nhalf.loops.program.events import Label
from nhalf.loops.source.refusal import RefusedSource

CALLS_MOST = 50_000
"""Programs with more calls are not evaluated at two changed numbers as well, to save seconds."""
Exponents = dict[str, float | None]
"""By what power a time grows with each name; None if it is 0, or cannot be told."""


@dataclass(frozen=True)
class Part:
    """What the rank that ends last spends at a line, in seconds, waiting included.

    `count` is of calls or iterations, `size_bytes` of what they send, receive or put in together.
    """

    name: str
    line: int
    count: int
    size_bytes: int
    time_s: float
    share: float
    exponent_per_name: Exponents


@dataclass(frozen=True)
class Estimate:
    """The time of a program in seconds, from `low_s` on; `high_s` is None if none is known.

    Computing is bounded from below only. `parts` are those of `last_rank`, which ends last.
    `left_out` has what is not in the time, `guessed` are operations within a factor of 2.
    `exponent_per_name` and `formula` are with the machine's own operations. With the
    engine SIMGRID the times of the whole are its own, and those of parts as MODEL has them. Unless
    `is_followed` messages share nothing of the network.
    """

    program: str
    machine: str
    mpi: str
    processor: str
    ranks: int
    numbers: dict[str, int]
    time_s: float
    low_s: float
    high_s: float | None
    last_rank: int
    parts: tuple[Part, ...]
    exponent_per_name: Exponents
    left_out: tuple[str, ...]
    forced: int
    guessed: tuple[str, ...]
    formula: Formula | None
    is_followed: bool
    engine: str = MODEL

    @property
    def decided_by(self) -> Part | None:
        """The part that takes longest."""
        return max(self.parts, key=lambda part: part.time_s, default=None)

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf predict --source --json`."""
        longest = self.decided_by
        decided_by = {"name": longest.name, "line": longest.line} if longest else None
        formula = self.formula.as_json() if self.formula else None
        parts = list(map(vars, self.parts))
        return {**vars(self), "parts": parts, "formula": formula, "decided_by": decided_by}


def estimate(question: SourceQuestion, numbers: Mapping[str, int], ranks: int) -> Estimate:
    """The time of a program; raises RefusedSource for what is not understood in it.

    Raises InputError for a machine or a placement that holds fewer ranks, and for loops without
    a processor.
    """
    target, hosts = question.target, question.hosts(ranks)
    events = question.events(numbers, ranks)
    unasked = usual = evaluated(question, target, events, is_least=False)
    if question.ask is not None:
        target = question.ask(usual.program, hosts)
        usual = evaluated(question, target, events, is_least=False)
    has_loops = computes(events) and not question.messages_alone
    least = evaluated(question, target, events, is_least=True) if has_loops else usual
    costs = target.costs(hosts)
    replay(undisturbed(usual.program), costs)  # which says of which operations it has no times
    low, high = guess_bounds(usual.program, target, costs, usual.replayed_s)
    left_out = dict.fromkeys(place for own in events for place in own.left_out)
    is_open = has_loops or bool(left_out)
    time_s, least_s = usual.end_s, least.end_s
    if target.simgrid:
        time_s, least_s = (simulated_s(end.program, target, hosts) for end in (usual, least))
    points = _Points(question, {**numbers, OF_RANKS: ranks}, unasked)
    by_label, total = points.exponents()
    return Estimate(
        question.source.path.name,
        target.messages.machine.name,
        target.library,
        question.processor.name if question.processor else "",
        ranks,
        dict(numbers),
        time_s,
        min(least_s, time_s) * low,  # of one run of a loop: several may overlap
        None if is_open else time_s * high,
        usual.last_rank,
        _parts(usual, by_label),
        total,
        tuple(f"line {line}: {reason}" for line, reason in left_out),
        usual.forced,
        tuple(sorted(costs.guessed)),
        formula(list(points.all()), target.messages.curve.segments[0].n_half_bytes),
        usual.is_followed,
        SIMGRID if target.simgrid else MODEL,
    )


def _parts(evaluation: Evaluation, exponents: Mapping[Label, Exponents]) -> tuple[Part, ...]:
    time_s = evaluation.time_s
    total_s = sum(time_s.values())
    return tuple(
        Part(
            *label,
            evaluation.count[label],
            evaluation.size_bytes[label],
            time_s[label],
            time_s[label] / total_s if total_s else 0.0,
            exponents.get(label, {}),
        )
        for label in sorted(time_s, key=lambda label: (label[1] or math.inf, label[0]))
    )


@dataclass
class _Points:
    """The program at other numbers, each evaluated once; None if it cannot run."""

    question: SourceQuestion
    base: Point
    present: Evaluation
    _known: dict[tuple[int, ...], Evaluation | None] = field(default_factory=dict)

    def at(self, **numbers: int) -> Evaluation | None:
        """The program with some numbers changed."""
        point = {**self.base, **numbers}
        if min(numbers.values()) < 1:
            return None
        if point == self.base:
            return self.present
        key = tuple(point.values())
        if key not in self._known:
            *_, ranks = key
            of_names = {name: number for name, number in point.items() if name != OF_RANKS}
            self._known[key] = None
            with suppress(InputError, RefusedSource):
                events = self.question.events(of_names, ranks)
                target = self.question.target
                self._known[key] = evaluated(self.question, target, events, is_least=False)
        return self._known[key]

    def all(self) -> Iterator[tuple[Point, Evaluation]]:
        """Half and twice of each number but 0, alone and together with the ranks."""
        names = [name for name, number in self.base.items() if number > 0]
        yield {name: self.base[name] for name in names}, self.present
        factors = [(0.5, 1), (2, 1)]
        if len(self.present.program.timeline) < CALLS_MOST:
            factors += [(2, 2), (0.5, 2)]
        for name, (own, of_ranks) in itertools.product(names, factors):
            if name == OF_RANKS and of_ranks > 1:
                continue
            changed = {OF_RANKS: self.base[OF_RANKS] * of_ranks, name: int(self.base[name] * own)}
            if evaluation := self.at(**changed):
                yield {name: {**self.base, **changed}[name] for name in names}, evaluation

    def exponents(self) -> tuple[dict[Label, Exponents], Exponents]:
        """How the time of each part, and of all, grows from half to twice of each number.

        Where the program or the machine cannot have one of these, from or to the number itself.
        """
        by_label: dict[Label, Exponents] = {}
        total: Exponents = {}
        for name, number in self.base.items():
            half, twice = self.at(**{name: number // 2}), self.at(**{name: 2 * number})
            low, high = half or self.present, twice or self.present
            steps = math.log((2 if twice else 1) * (number / (number // 2) if half else 1))
            total[name] = _exponent(low.end_s, high.end_s, steps)
            for label in {*low.time_s, *high.time_s}:
                times_s = low.time_s.get(label, 0.0), high.time_s.get(label, 0.0)
                by_label.setdefault(label, {})[name] = _exponent(*times_s, steps)
        return by_label, total


def _exponent(low_s: float, high_s: float, steps: float) -> float | None:
    return math.log(high_s / low_s) / steps if low_s > 0 and high_s > 0 and steps else None
