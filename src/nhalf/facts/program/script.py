# SPDX-License-Identifier: Apache-2.0
"""What a replay needs of a timeline on any machine, prepared once: messages by number.

Hashing a message by its ends, communicator and tag at every step takes longer than replaying it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.facts.fact import fact
from nhalf.facts.program.completions import CallForm
from nhalf.facts.program.operations import SCATTERS, operation
from nhalf.facts.program.program import Program
from nhalf.facts.program.schedule import ALWAYS_WAITS, COLLECTIVE, Actor, messages, schedule

Numbers = tuple[int, ...]
Operation = tuple[int, int]
"""A communicator, and the number of an operation on it."""
Route = tuple[int, int, int]
"""Source, target and size of a message: what its cost depends on."""
_ROUTE = ["source", "target", "size_bytes"]


@dataclass(frozen=True)
class Gathering:
    """A collective operation: the ranks that take part, and the mean size of their input."""

    members: Numbers
    blocks_bytes: int


@dataclass(frozen=True)
class Script:
    """All actors, and the messages of which both ends were traced.

    `awaited` has, by actor and step, the messages that a wait completes. `routes` are the distinct
    ones, `route` is that of each message, and `always_waits` whether it waits for its receive at
    any size. `largest_bytes` and `any_always_waits` are those of all sends.
    """

    actors: Sequence[Actor]
    awaited: list[dict[int, Numbers]]
    routes: list[Route]
    route: NDArray[np.int64]
    always_waits: NDArray[np.bool_]
    largest_bytes: int
    any_always_waits: bool
    gatherings: dict[Operation, Gathering]

    @property
    def forms(self) -> Sequence[CallForm]:
        """The forms of all steps; an actor without calls has none."""
        return max((actor.forms for actor in self.actors), key=len, default=())

    def route_of(self, message: int) -> Route:
        """Source, target and size of a message."""
        route: Route = self.routes[self.route[message]]
        return route


@fact
def script(program: Program) -> Script:
    """The script of a program's schedule."""
    actors, pairs = schedule(program), messages(program)
    routes = pairs.select(_ROUTE).unique(maintain_order=True).with_row_index("route")
    route = pairs.join(routes, on=_ROUTE, how="left", maintain_order="left")["route"]
    sends = program.timeline.filter(pl.col("kind") == "sent")
    largest_bytes = sends["size_bytes"].max()
    always_waits = pl.col("call").is_in(list(ALWAYS_WAITS))
    return Script(
        actors,
        [_awaited(actor) for actor in actors],
        list(routes.select(_ROUTE).iter_rows()),
        route.to_numpy().astype(np.int64),
        pairs.select(always_waits).to_series().to_numpy(),
        -1 if largest_bytes is None else int(str(largest_bytes)),
        not sends.filter(always_waits).is_empty(),
        _gatherings(actors),
    )


def _awaited(actor: Actor) -> dict[int, Numbers]:
    """The messages that each wait of an actor completes."""
    places = list(chain.from_iterable(actor.completes.values()))
    own = actor.message_of[places].tolist() if places else []
    is_whole = not own or min(own) >= 0
    awaited: dict[int, Numbers] = {}
    begin = 0
    for wait, received in actor.completes.items():
        some = own[begin : begin + len(received)]
        begin += len(received)
        awaited[wait] = tuple(some if is_whole else [message for message in some if message >= 0])
    return awaited


def _gatherings(actors: Sequence[Actor]) -> dict[Operation, Gathering]:
    """All collective operations."""
    input_bytes: dict[Operation, dict[int, int]] = {}
    roots: dict[Operation, int] = {}
    for actor in actors:
        scatters = [operation(form.call) in SCATTERS for form in actor.forms]
        for place in actor.places_of(COLLECTIVE):
            key = actor.operation[place]
            input_bytes.setdefault(key, {})[actor.rank] = actor.size_bytes[place]
            if scatters[actor.form[place]]:
                roots[key] = actor.partner[place]
    gatherings = {}
    for key, sizes in input_bytes.items():
        # The root of a scatter holds all blocks; the other ranks have the size of one.
        non_root_sizes = [size for rank, size in sizes.items() if rank != roots.get(key)]
        mean_bytes = sum(non_root_sizes or sizes.values()) // len(non_root_sizes or sizes)
        gatherings[key] = Gathering(tuple(sorted(sizes)), mean_bytes)
    return gatherings
