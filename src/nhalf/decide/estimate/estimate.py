"""The time of a program from its source: each rank's calls replayed, its loops by their bound.

No network is modelled here: the calls go where those of a trace go, through the same replay.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from nhalf.base.errors import InputError
from nhalf.decide.estimate.schedule import LoopTimes, SourceSchedule, schedule_of
from nhalf.decide.estimate.turns import replay_in_turn
from nhalf.decide.program.predict import guess_bounds
from nhalf.decide.program.replay import replay
from nhalf.decide.program.target import Target
from nhalf.decide.program.undisturbed import undisturbed
from nhalf.facts.program.program import Program
from nhalf.loops.program.events import Called, Computed, Label, RankEvents
from nhalf.loops.program.ranks import MpiProgram
from nhalf.machines.processor import Processor
from nhalf.machines.wires import nodes_of

COMPUTING = "computing"
OF_RANKS = "ranks"


@dataclass(frozen=True)
class Part:
    """What the rank that ends last spends at a line, in seconds, waiting included.

    `count` is of calls or iterations; `growth` has the exponent by which the time grows with each
    name, None where it is 0 or unknown.
    """

    name: str
    line: int
    count: int
    size_bytes: int
    time_s: float
    share: float
    growth: dict[str, float | None]


@dataclass(frozen=True)
class Estimate:
    """The time of a program in seconds, from `low_s` on; `high_s` is None if none is known.

    Computing is bounded from below only. `last_rank` is the rank that ends last, whose `parts`
    these are. `left_out` has what is not in the time.
    """

    program: str
    machine: str
    library: str
    processor: str
    ranks: int
    numbers: dict[str, int]
    time_s: float
    low_s: float
    high_s: float | None
    last_rank: int
    parts: tuple[Part, ...]
    growth: dict[str, float | None]
    left_out: tuple[str, ...]
    forced: int = 0
    guessed: tuple[str, ...] = ()

    @property
    def decided_by(self) -> Part | None:
        """The part that takes longest."""
        return max(self.parts, key=lambda part: part.time_s, default=None)

    def as_json(self) -> dict[str, Any]:
        """The output of `nhalf estimate --json`."""
        parts = [vars(part) for part in self.parts]
        most = self.decided_by
        decided = {"name": most.name, "line": most.line} if most else None
        return {**vars(self), "parts": parts, "decided_by": decided}


@dataclass(frozen=True)
class Question:
    """A program on a machine: `target` has its messages, `placement` the nodes of its ranks.

    `ask` makes a target that has asked a library for the operations of a program; None if the
    machine's own count. With `messages_alone` computing takes no time.
    """

    source: MpiProgram
    target: Target
    processor: Processor | None
    ask: Callable[[Program, Sequence[str]], Target] | None = None
    messages_alone: bool = False


@dataclass
class _Evaluation:
    """The end of a program, and the time of each part of the rank that ends last."""

    schedule: SourceSchedule
    end_s: float
    forced: int
    last_rank: int
    time_s: dict[Label, float] = field(default_factory=dict)
    count: Counter[Label] = field(default_factory=Counter)
    size_bytes: Counter[Label] = field(default_factory=Counter)


def estimate(question: Question, numbers: Mapping[str, int], ranks: int) -> Estimate:
    """The time of a program; raises RefusedSource for what is not understood in it.

    Raises InputError for a machine or a placement that holds fewer ranks.
    """
    target, path = question.target, question.source.path
    machine = target.messages.machine
    hosts = _hosts(target, ranks)
    events = question.source.ranks(numbers, ranks)
    computes = any(isinstance(event, Computed) for own in events for event in own.events)
    if computes and question.processor is None and not question.messages_alone:
        raise InputError(
            f"{machine.name} names no processor, which is to compute the loops of {path}",
            "give one: --processor power2, here, or a file; or none for messages alone",
        )
    loops = LoopTimes(question.processor)
    usual = _evaluated(question.target, hosts, events, loops, question.source)
    own = question.ask(usual.schedule.program, hosts) if question.ask else target
    if question.ask:
        usual = _evaluated(own, hosts, events, loops, question.source)
    least_s = usual.end_s
    if computes:
        least = LoopTimes(question.processor, is_least=True)
        least_s = _evaluated(own, hosts, events, least, question.source).end_s
    costs = own.costs(hosts)
    replay(undisturbed(usual.schedule.program), costs)
    low, high = guess_bounds(usual.schedule.program, own, costs, usual.end_s)
    left_out = dict.fromkeys(place for rank in events for place in rank.left_out)
    is_open = not question.messages_alone and (computes or bool(left_out))
    growth, total_growth = _growth(question, numbers, ranks)
    return Estimate(
        path.name,
        machine.name,
        own.library,
        question.processor.name if question.processor else "",
        ranks,
        dict(numbers),
        usual.end_s,
        least_s * low,
        None if is_open else usual.end_s * high,
        usual.last_rank,
        _parts(usual, growth),
        total_growth,
        tuple(f"line {line}: {reason}" for line, reason in left_out),
        usual.forced,
        tuple(sorted(costs.guessed)),
    )


def _hosts(target: Target, ranks: int) -> list[str]:
    return [str(node) for node in nodes_of(target.messages.machine, ranks, target.placement)]


def _evaluated(
    target: Target,
    hosts: Sequence[str],
    events: Sequence[RankEvents],
    loops: LoopTimes,
    source: MpiProgram,
) -> _Evaluation:
    schedule = schedule_of(source.path, events, loops)
    costs = target.costs(hosts)
    whole = replay_in_turn(undisturbed(schedule.program), costs)
    rank = whole.actor.rank
    one = _Evaluation(schedule, whole.end_s, whole.forced, rank)
    for event in events[rank].events:
        if isinstance(event, Computed):
            label = COMPUTING, event.loop.counts.line
            one.time_s[label] = one.time_s.get(label, 0.0) + loops.time_s(event)
            one.count[label] += event.iterations
        else:
            label = event.label
            one.count[label] += not (isinstance(event, Called) and event.with_next)
            if isinstance(event, Called):
                one.size_bytes[label] += event.size_bytes
    if whole.actor.form is not None and len(whole.actor.form):
        begins_s, ends_s = whole.spans_s(whole.last)
        times_s = np.nan_to_num(ends_s[:-1] - begins_s)
        for site, time_s in zip(whole.actor.column("site").tolist(), times_s.tolist(), strict=True):
            label = schedule.labels[site]
            one.time_s[label] = one.time_s.get(label, 0.0) + time_s
    return one


def _parts(one: _Evaluation, growth: Mapping[Label, dict[str, float | None]]) -> tuple[Part, ...]:
    total_s = sum(one.time_s.values())
    labels = sorted(one.time_s, key=lambda label: (label[1], label[0]))
    return tuple(
        Part(
            *label,
            one.count[label],
            one.size_bytes[label],
            one.time_s[label],
            one.time_s[label] / total_s if total_s else 0.0,
            growth.get(label, {}),
        )
        for label in labels
    )


def _growth(
    question: Question, numbers: Mapping[str, int], ranks: int
) -> tuple[dict[Label, dict[str, float | None]], dict[str, float | None]]:
    """How the time of each part, and of all, grows from half to twice of each number."""
    by_label: dict[Label, dict[str, float | None]] = {}
    total: dict[str, float | None] = {}
    for name in (*numbers, OF_RANKS):
        here = ranks if name == OF_RANKS else numbers[name]
        ends = [
            (number, one)
            for number in (max(1, here // 2), here, 2 * here)
            if (one := _elsewhere(question, numbers, ranks, name, number)) is not None
        ]
        if len(ends) < 2 or ends[0][0] == ends[-1][0] or ends[0][0] < 1:
            total[name] = None
            continue
        (first, low), *_, (last, high) = ends
        steps = math.log(last / first)
        total[name] = _exponent(low.end_s, high.end_s, steps)
        for label in {*low.time_s, *high.time_s}:
            times_s = low.time_s.get(label, 0.0), high.time_s.get(label, 0.0)
            by_label.setdefault(label, {})[name] = _exponent(*times_s, steps)
    return by_label, total


def _elsewhere(
    question: Question, numbers: Mapping[str, int], ranks: int, name: str, number: int
) -> _Evaluation | None:
    """The program at another number; None where it cannot run."""
    asked = {**numbers, **({} if name == OF_RANKS else {name: number})}
    count = number if name == OF_RANKS else ranks
    target = question.target
    try:
        hosts = _hosts(target, count)
        events = question.source.ranks(asked, count)
    except InputError:
        return None
    return _evaluated(target, hosts, events, LoopTimes(question.processor), question.source)


def _exponent(low_s: float, high_s: float, steps: float) -> float | None:
    return math.log(high_s / low_s) / steps if low_s > 0 and high_s > 0 else None
