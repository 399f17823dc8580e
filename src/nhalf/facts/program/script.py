# SPDX-License-Identifier: Apache-2.0
"""What a replay needs of a timeline on any machine, prepared once: messages by number.

Hashing a message by its ends, communicator and tag at every step takes longer than replaying it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nhalf.facts.fact import fact
from nhalf.facts.program.operations import SCATTERS, operation
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import (
    ALWAYS_WAITS,
    COLLECTIVE,
    POST,
    RECEIVE,
    SEND,
    Actor,
    Message,
    Step,
    schedule,
)

Numbers = tuple[int, ...]
Operation = tuple[int, int]
"""A communicator, and the number of an operation on it."""
Route = tuple[int, int, int]
"""Source, target and size of a message: what its cost depends on."""


@dataclass(frozen=True)
class Script:
    """All actors, with the messages of which both ends were traced; the others would never end.

    `numbers` has, by actor and step, the messages that a step sends, posts or completes.
    `routes` are the distinct ones, `route` is that of each message, and `always_waits` whether it
    waits for its receive at any size. `largest_bytes` and `any_always_waits` are those of all
    sends. `members` are the ranks that take part in each operation, `blocks_bytes` the mean size of
    their input.
    """

    actors: Sequence[Actor]
    numbers: list[list[Numbers]]
    messages: list[Message]
    number_of: dict[Message, int]
    routes: list[Route]
    route: NDArray[np.int64]
    always_waits: NDArray[np.bool_]
    largest_bytes: int
    any_always_waits: bool
    members: dict[Operation, Numbers]
    blocks_bytes: dict[Operation, int]

    @classmethod
    def of(cls, actors: Sequence[Actor]) -> Script:
        """The script of a schedule."""
        sends: dict[Message, Step] = {}
        received: set[Message] = set()
        largest_bytes, always = -1, False
        for actor in actors:
            for step in actor.steps:
                if step.kind == SEND:
                    largest_bytes = max(largest_bytes, step.size_bytes)
                    always = always or step.call in ALWAYS_WAITS
                    if step.message is not None:
                        sends[step.message] = step
                elif step.message is not None:
                    received.add(step.message)
        paired = {message: step for message, step in sends.items() if message in received}
        number_of = {message: number for number, message in enumerate(paired)}
        routes: dict[Route, int] = {}
        route = [
            routes.setdefault((message[0], message[1], step.size_bytes), len(routes))
            for message, step in paired.items()
        ]
        members, blocks_bytes = _operations(actors)
        return cls(
            actors,
            [_numbers(actor, number_of) for actor in actors],
            list(paired),
            number_of,
            list(routes),
            np.array(route, np.int64),
            np.array([step.call in ALWAYS_WAITS for step in paired.values()], bool),
            largest_bytes,
            always,
            members,
            blocks_bytes,
        )


@fact
def script(program: Program) -> Script:
    """The script of a program's schedule."""
    return Script.of(schedule(program))


def _numbers(actor: Actor, number_of: dict[Message, int]) -> list[Numbers]:
    """By step: the numbers of the messages that it sends, posts or completes."""
    numbers: list[Numbers] = []
    for step in actor.steps:
        if step.message is not None and step.kind in (SEND, POST, RECEIVE):
            number = number_of.get(step.message)
            numbers.append(() if number is None else (number,))
        else:
            numbers.append(tuple([number_of[of] for of in step.completes if of in number_of]))
    return numbers


def _operations(
    actors: Sequence[Actor],
) -> tuple[dict[Operation, Numbers], dict[Operation, int]]:
    """The ranks that take part in each operation, and the mean size of their input."""
    input_bytes: dict[Operation, dict[int, int]] = {}
    roots: dict[Operation, int] = {}
    for actor in actors:
        for step in actor.steps:
            if step.kind == COLLECTIVE:
                key = (step.communicator, step.number)
                input_bytes.setdefault(key, {})[actor.rank] = step.size_bytes
                if operation(step.call) in SCATTERS:
                    roots[key] = step.partner
    members = {key: tuple(sorted(sizes)) for key, sizes in input_bytes.items()}
    means: dict[Operation, int] = {}
    for key, sizes in input_bytes.items():
        # The root of a scatter holds all blocks; the other ranks have the size of one.
        non_root_sizes = [size for rank, size in sizes.items() if rank != roots.get(key)]
        means[key] = sum(non_root_sizes or sizes.values()) // len(non_root_sizes or sizes)
    return members, means
