"""What a replay needs of a timeline on any machine, prepared once as columns: messages and
operations by number, and who completes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nhalf.facts.fact import fact
from nhalf.facts.program.completions import CallForm, Places
from nhalf.facts.program.distinct import distinct_rows, place_of_each
from nhalf.facts.program.parts import OperationParts
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import ALWAYS_WAITS, Actor, messages, schedule

Route = tuple[int, int, int]
"""Source, target and size of a message: what its cost depends on."""
_ROUTE = ["source", "target", "size_bytes"]


@dataclass(frozen=True, eq=False)
class Completions:
    """Pairs in the order of steps of all actors: a step, and what it completes."""

    step: Places
    completed: Places

    @classmethod
    def of(cls, pairs: Sequence[tuple[Places, Places]]) -> Completions:
        """The pairs of actors, one after the other."""
        nothing = np.zeros(0, np.int32)
        steps, completed = zip((nothing, nothing), *pairs, strict=True)
        return cls(np.concatenate(steps), np.concatenate(completed))


@dataclass(frozen=True, eq=False)
class Script:
    """All actors, and the messages of which both ends were traced.

    The steps of actor a are those from `first[a]` on, of `forms`; `subject` is the message of each,
    or its part in an operation, -1 if it has neither. `awaited` has the messages that steps
    complete. `routes` are the distinct ones, `route` is that of each message, and `always_waits`
    whether it waits for its receive at any size.
    """

    actors: Sequence[Actor]
    forms: Sequence[CallForm]
    first: Places
    form: NDArray[np.int32]
    subject: NDArray[np.int32]
    awaited: Completions
    routes: list[Route]
    route: NDArray[np.int32]
    always_waits: NDArray[np.bool_]
    parts: OperationParts

    def awaited_by(self, number: int) -> tuple[Places, Places]:
        """The places of an actor's waits that complete messages, once for each, and these."""
        begin, end = np.searchsorted(self.awaited.step, self.first[number : number + 2])
        step, completed = self.awaited.step[begin:end], self.awaited.completed[begin:end]
        return step - self.first[number], completed

    @cached_property
    def ended(self) -> Completions:
        """The steps that began the sends and operations which steps complete."""
        firsts = zip(self.actors, self.first.tolist(), strict=False)
        return Completions.of(
            [(first + actor.ended.waits, first + actor.ended.begun) for actor, first in firsts]
        )


@fact
def script(program: Program) -> Script:
    """The script of a program's schedule."""
    actors, pairs = schedule(program), messages(program)
    route = distinct_rows(*(pairs[name].to_numpy() for name in _ROUTE))
    forms = max((actor.forms for actor in actors), key=len, default=())
    first = np.cumsum([0, *(len(actor.form) for actor in actors)])
    subject, form = (
        np.concatenate([np.zeros(0, np.int32), *columns], dtype=np.int32, casting="same_kind")
        for columns in ([actor.message for actor in actors], [actor.form for actor in actors])
    )
    always_waits = np.zeros(len(pairs), bool)
    sends = subject[np.isin(form, [at for at, of in enumerate(forms) if of.call in ALWAYS_WAITS])]
    always_waits[sends[sends >= 0]] = True
    parts = OperationParts.of(actors, first, forms)
    subject[parts.step] = np.arange(len(parts.step))
    return Script(
        actors,
        forms,
        first,
        form,
        subject,
        Completions.of([_awaited(*own) for own in zip(actors, first.tolist(), strict=False)]),
        pairs.select(_ROUTE)[place_of_each(route)].rows(),
        route.astype(np.int32),
        always_waits,
        parts,
    )


def _awaited(actor: Actor, first: int) -> tuple[Places, Places]:
    """The steps of an actor that complete messages, once for each, and these."""
    own = actor.message[actor.completes.begun]
    has_message = own >= 0
    return np.int32(first) + actor.completes.waits[has_message], own[has_message]
