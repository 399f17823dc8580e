# SPDX-License-Identifier: Apache-2.0
"""Communicators of all ranks: which of one rank are the same as which of another.

Ranks do not talk to each other for that. Making a communicator is collective, so its members make
those of the same group in the same order: the third with a group on one rank is the third on all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import polars as pl

from nhalf.measure.traced.layout import CommunicatorNote, ProcessFile
from nhalf.measure.traced.tables import COMMUNICATORS

WORLD = "MPI_COMM_WORLD"
LOST = 0xFFFF
"""The number of communicators for which a process had none left."""

_Key = tuple[tuple[int, ...], tuple[int, ...], int]


class Members:
    """The numbers of communicators, and who is in them."""

    def __init__(self, processes: Sequence[ProcessFile]) -> None:
        keys: dict[tuple[int, int], _Key] = {}
        first_ns: dict[_Key, int] = {}
        names: dict[_Key, str] = {}
        for process in processes:
            for key, note in _keyed(process):
                keys[process.rank, note.communicator] = key
                made_ns = 0 if note.communicator == 0 else note.made_ns
                first_ns[key] = min(made_ns, first_ns.get(key, note.made_ns))
                names[key] = note.name or names.get(key, WORLD if made_ns == 0 else "")
        self._order = sorted(first_ns, key=lambda key: (first_ns[key], key))
        numbers = {key: number for number, key in enumerate(self._order)}
        self._names = names
        self._numbers = {local: numbers[key] for local, key in keys.items()}

    def number(self, rank: int, local: int) -> int:
        """The number of a communicator that a rank knows by its own number."""
        return self._numbers.get((rank, local), LOST)

    def table(self) -> pl.DataFrame:
        """One row for each member of each."""
        rows = [
            (number, self._names[key], rank, world_rank)
            for number, key in enumerate(self._order)
            for rank, world_rank in enumerate((*key[0], *key[1]))
        ]
        return pl.DataFrame(rows, COMMUNICATORS, orient="row")


def _keyed(process: ProcessFile) -> list[tuple[_Key, CommunicatorNote]]:
    """Each communicator with what is the same on all its ranks."""
    seen: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = defaultdict(int)
    found = []
    for note in process.communicators:
        both = sorted([note.members, note.others]) if note.others else [note.members, ()]
        groups = (tuple(both[0]), tuple(both[1]))
        found.append(((*groups, seen[groups]), note))
        seen[groups] += 1
    return found
