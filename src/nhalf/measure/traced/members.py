"""Communicators of all ranks: matches those of one rank with those of another.

This needs no messages. Making a communicator is collective, so its members make those of the same
group in the same order: the third with a group on one rank is the third on all.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

import polars as pl

from nhalf.measure.traced.layout import CommunicatorNote, ProcessFile
from nhalf.measure.traced.tables import COMMUNICATORS

WORLD = "MPI_COMM_WORLD"
LOST = 0xFFFF
"""Number of communicators for which a process had no number left."""

_Key = tuple[tuple[int, ...], tuple[int, ...], int]


class Members:
    """The numbers of communicators, and their members."""

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
        """Return the number of a communicator from a rank's local number."""
        return self._numbers.get((rank, local), LOST)

    def table(self) -> pl.DataFrame:
        """Return a table with one row for each member of each communicator."""
        rows = [
            (number, self._names[key], rank, world_rank)
            for number, key in enumerate(self._order)
            for rank, world_rank in enumerate((*key[0], *key[1]))
        ]
        return pl.DataFrame(rows, COMMUNICATORS, orient="row")


def _keyed(process: ProcessFile) -> list[tuple[_Key, CommunicatorNote]]:
    """Return each communicator with a key that is equal on all its ranks."""
    made_before: dict[tuple[tuple[int, ...], tuple[int, ...]], int] = defaultdict(int)
    keyed_notes = []
    for note in process.communicators:
        group_pair = sorted([note.members, note.others]) if note.others else [note.members, ()]
        groups = (tuple(group_pair[0]), tuple(group_pair[1]))
        keyed_notes.append(((*groups, made_before[groups]), note))
        made_before[groups] += 1
    return keyed_notes
