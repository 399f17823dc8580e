"""The time of a program from its source: each rank's calls replayed, its loops by their bound.

No network is modelled here: the calls go where those of a trace go, through the same replay.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from nhalf.base.errors import InputError
from nhalf.decide.engines.names import MODEL, SIMGRID
from nhalf.decide.estimate.evaluation import Evaluation, SourceQuestion, computes, evaluated
from nhalf.decide.program.predict import guess_bounds, simulated_s
from nhalf.decide.program.replay import replay
from nhalf.decide.program.undisturbed import undisturbed
from nhalf.loops.program.events import Label

OF_RANKS = "ranks"
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
    `left_out` has what is not in the time, `guessed` are operations within a factor of 2. With the
    engine SIMGRID the times of the whole are its own, and those of parts as the replay has them.
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
    engine: str = MODEL

    @property
    def decided_by(self) -> Part | None:
        """The part that takes longest."""
        return max(self.parts, key=lambda part: part.time_s, default=None)

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf estimate --json`."""
        longest = self.decided_by
        decided_by = {"name": longest.name, "line": longest.line} if longest else None
        return {**vars(self), "parts": list(map(vars, self.parts)), "decided_by": decided_by}


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
    by_label, total = _exponents(question, numbers, ranks, unasked)
    return Estimate(
        question.source.path.name,
        target.messages.machine.name,
        target.library,
        question.processor.name if question.processor else "",
        ranks,
        dict(numbers),
        time_s,
        least_s * low,
        None if is_open else time_s * high,
        usual.last_rank,
        _parts(usual, by_label),
        total,
        tuple(f"line {line}: {reason}" for line, reason in left_out),
        usual.forced,
        tuple(sorted(costs.guessed)),
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


def _exponents(
    question: SourceQuestion, numbers: Mapping[str, int], ranks: int, present: Evaluation
) -> tuple[dict[Label, Exponents], Exponents]:
    """How the time of each part, and of all, grows from half to twice of each number.

    Where the program or the machine cannot have one of these, from or to the number itself.
    """
    by_label: dict[Label, Exponents] = {}
    total: Exponents = {}
    for name in (*numbers, OF_RANKS):
        number = ranks if name == OF_RANKS else numbers[name]
        half = _elsewhere(question, numbers, ranks, name, number // 2)
        twice = _elsewhere(question, numbers, ranks, name, 2 * number)
        low, high = half or present, twice or present
        steps = math.log((2 if twice else 1) * (number / (number // 2) if half else 1))
        total[name] = _exponent(low.end_s, high.end_s, steps)
        for label in {*low.time_s, *high.time_s}:
            times_s = low.time_s.get(label, 0.0), high.time_s.get(label, 0.0)
            by_label.setdefault(label, {})[name] = _exponent(*times_s, steps)
    return by_label, total


def _elsewhere(
    question: SourceQuestion, numbers: Mapping[str, int], ranks: int, name: str, number: int
) -> Evaluation | None:
    """The program at another number; None if it cannot run."""
    if number < 1:
        return None
    numbers, ranks = (numbers, number) if name == OF_RANKS else ({**numbers, name: number}, ranks)
    try:
        events = question.events(numbers, ranks)
        return evaluated(question, question.target, events, is_least=False)
    except InputError:
        return None


def _exponent(low_s: float, high_s: float, steps: float) -> float | None:
    return math.log(high_s / low_s) / steps if low_s > 0 and high_s > 0 and steps else None
