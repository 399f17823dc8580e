"""Replay of a timeline: each rank makes its calls, which cost the times of a machine.

native/replay/ says how, and does it, as a library in this process: a timeline has gigabytes, which
a program would have to be sent for each machine. It gets columns where they lie, and stays within
them whatever they say. Ctrl-C takes effect after a replay: a second for ten million calls.
"""

import ctypes
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.decide.program.contention import Contention, cost_columns, script_columns
from nhalf.decide.program.costs import Costs
from nhalf.facts.program.disturbance import undisturbed
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import Actor
from nhalf.facts.program.script import Script
from nhalf.machines.network import Columns, NativeColumn, ask

Variant = tuple[Costs, float]
"""Costs, and how many times as long computing takes."""


@dataclass(slots=True)
class Spent:
    """The parts of the time of one actor, in seconds."""

    end_s: float = 0.0
    computing_s: float = 0.0
    messages_s: float = 0.0
    collectives_s: float = 0.0
    waiting_s: float = 0.0
    least_s: float = 0.0
    """Without the order of calls: the end if messages overlap computing and nobody waits."""


@dataclass(frozen=True, eq=False)
class Replay:
    """What a replay found: the times of every actor, in order, and when each of its calls began and
    ended, if that was asked for.

    `forced` are sends that had to go before their receive was posted, since all ranks waited.
    """

    script: Script
    spent: list[Spent]
    forced: int
    _begins_s: Floats
    _ends_s: Floats

    @property
    def last(self) -> int:
        """The place of the actor that ends last."""
        return max(range(len(self.spent)), key=lambda place: self.spent[place].end_s)

    @property
    def actor(self) -> Actor:
        """The actor that ends last."""
        return self.script.actors[self.last]

    @property
    def end_s(self) -> float:
        """When the last actor ends; 0 without any."""
        return max((actor.end_s for actor in self.spent), default=0.0)

    def ends_s(self, place: int) -> Floats:
        """When each call of an actor ended, and then the actor; NaN of a call that was skipped."""
        return np.append(self._ends_s[self._own(place)], self.spent[place].end_s)

    def spans_s(self, place: int) -> tuple[Floats, Floats]:
        """When each call of an actor began, and `ends_s`."""
        return self._begins_s[self._own(place)], self.ends_s(place)

    def _own(self, place: int) -> slice:
        return slice(*self.script.first[place : place + 2].tolist())


def replays(program: Program, variants: Sequence[Variant]) -> list[Replay]:
    """A replay of a program for each variant, without what others took of its ranks' processors."""
    script = undisturbed(program)
    return [replay(script, costs, computing) for costs, computing in variants]


def replay(
    script: Script,
    costs: Costs,
    computing: float = 1.0,
    contention: Contention | None = None,
    byte_s: float = 0.0,
    *,
    follows: bool = False,
) -> Replay:
    """The replay of a script, with the contention of each message and operation, where `byte_s` is
    what a byte of a send that streams keeps its sender for more. One that `follows` keeps when each
    call began and ended.
    """
    columns = Columns()
    spent = np.zeros((len(script.actors), 5))
    spans_s = np.full((2, len(script.form) if follows else 0), np.nan)
    answer = _Answer(NativeColumn(spent.ctypes.data, len(spent)), columns.add(spans_s[0], float),
                     columns.add(spans_s[1], float))  # fmt: skip
    misfit = ask(
        "nhalf_replay",
        columns.struct(script_columns(columns, script, costs)),
        ctypes.byref(cost_columns(columns, script, costs, computing)),
        columns.struct(_contention(columns, script, costs, contention, byte_s)),
        ctypes.byref(answer),
    )
    if misfit:
        raise ValueError(f"the columns of a script do not fit each other: {misfit}")
    times = [Spent(*row) for row in spent.tolist()]
    return Replay(script, times, answer.forced, spans_s[0], spans_s[1])


class _Answer(ctypes.Structure):
    _fields_ = (
        *((name, NativeColumn) for name in ("spent", "begins_s", "ends_s")),
        ("forced", ctypes.c_int64),
    )


def _contention(
    columns: Columns, script: Script, costs: Costs, contention: Contention | None, byte_s: float
) -> list[NativeColumn]:
    """The columns of contention; without it they are empty."""
    if contention is None:
        return [columns.add([], float)] * 6
    add = columns.add
    return [
        add(contention.sends_s + contention.streams_bytes * byte_s, float),
        add(contention.receives_s, float),
        add(contention.transits_s, float),
        add(contention.before, np.int32),
        add(costs.of_routes(script.routes).port_s, float),
        add(np.nan_to_num(contention.operations_s), float),
    ]
