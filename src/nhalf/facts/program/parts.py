"""What ranks do in collective operations, as columns: who takes part, who waits for whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Self

import numpy as np

from nhalf.facts.program.completions import CallForm, Places
from nhalf.facts.program.distinct import distinct_rows, place_of_each
from nhalf.facts.program.operations import FROM_ROOT, SCATTERS, TO_ROOT, operation
from nhalf.facts.program.schedule import COLLECTIVE, Actor

Work = tuple[str, tuple[int, ...], int]
"""What ranks do in an operation once nobody is waited for: its call, its ranks and the mean size of
their input. Of a rank that only sends its part to a root the call is '', and the ranks are both.
"""


class Role(IntEnum):
    """Whom a rank waits for, as native/replay/columns.hpp has it."""

    ALL, ROOT, NOBODY = range(3)


@dataclass(frozen=True, eq=False)
class OperationParts:
    """The parts of ranks in operations, in the order of steps.

    By part: its step, by its place in a script, its form, the number of its operation, its role,
    whether its rank is the root, and its work, a place in `works`. There are `operations`.
    """

    step: Places
    form: Places
    operation: Places
    role: Places
    is_root: Places
    work: Places
    works: Sequence[Work]
    operations: int

    @classmethod
    def of(cls, actors: Sequence[Actor], first: Places, forms: Sequence[CallForm]) -> Self:
        """The parts of actors whose steps are from `first` on."""
        columns = [_columns(*own) for own in zip(actors, first.tolist(), strict=False)]
        step, rank, form, communicator, number, root, size_bytes = np.concatenate(
            [np.zeros((7, 0), np.int64), *columns], axis=1
        )
        meetings = _Meetings(communicator, number, rank)
        names = [operation(of_call.call) for of_call in forms]
        comes_from, goes_to, scatters = (
            np.array([name in flow for name in names], bool)[form]
            for flow in (FROM_ROOT, TO_ROOT, SCATTERS)
        )
        is_root = rank == root
        # Where a rank lacks calls, its later ones meet others, which may have another root.
        roots = np.bincount(meetings.operation[is_root], minlength=meetings.count)
        has_root = roots[meetings.operation] == 1
        role = np.where(comes_from & has_root, Role.ROOT, Role.ALL)
        role[goes_to & has_root & ~is_root] = Role.NOBODY
        # The root of a scatter holds all blocks; the other ranks have the size of one.
        mean_bytes = meetings.mean(size_bytes, ~(scatters & is_root))[meetings.operation]
        only_sends = role == Role.NOBODY
        kinds = np.stack([
            np.where(only_sends, -1, form),
            np.where(only_sends, rank, meetings.members[meetings.operation]),
            np.where(only_sends, root, -1),
            np.where(only_sends, size_bytes, mean_bytes),
        ])  # fmt: skip
        work = distinct_rows(*kinds)
        works: list[Work] = [
            (forms[call].call, meetings.member_sets[who], size) if call >= 0
            else ("", (who, to), size)
            for call, who, to, size in kinds[:, place_of_each(work)].T.tolist()
        ]  # fmt: skip
        return cls(step, form, meetings.operation, role, is_root, work, works, meetings.count)

    def at(self, step: int) -> int:
        """The part that a step is."""
        return int(np.searchsorted(self.step, step))


def _columns(actor: Actor, first: int) -> Places:
    """Step, rank, form, communicator, number, root and size of an actor's operations."""
    places = actor.places_of(COLLECTIVE)
    names = ("communicator", "number", "partner", "size_bytes")
    own = [actor.column(name)[places] for name in names]
    return np.stack([first + places, np.full(len(places), actor.rank), actor.form[places], *own])


class _Meetings:
    """The operations of parts. Ranks count theirs on each communicator, so that in each operation
    those take part that have as many.
    """

    def __init__(self, communicator: Places, number: Places, rank: Places) -> None:
        names, index = np.unique(communicator, return_inverse=True)
        count = np.zeros(len(names), np.int64)
        np.maximum.at(count, index, number + 1)
        first = np.cumsum(count) - count
        self.operation = first[index] + number
        self.count = int(count.sum())
        self.member_sets: list[tuple[int, ...]] = []
        self.members = np.zeros(self.count, np.int64)
        """By operation: the place of its ranks in `member_sets`."""
        for own, begin in enumerate(first.tolist()):
            ranks, amounts = np.unique(rank[index == own], return_counts=True)
            begins, last = begin, 0
            for amount in np.unique(amounts).tolist():
                self.members[begins : begin + amount] = len(self.member_sets)
                self.member_sets.append(tuple(ranks[amounts > last].tolist()))
                begins, last = begin + amount, amount

    def mean(self, sizes: Places, counts: Places) -> Places:
        """The mean by operation, rounded down, of what counts, or else of all."""
        of_all = np.bincount(self.operation[counts], minlength=self.count) == 0
        counts = counts | of_all[self.operation]
        sizes, place = sizes[counts], self.operation[counts]
        number = np.bincount(place, minlength=self.count)
        whole, remainder = np.zeros(self.count, np.int64), np.zeros(self.count, np.int64)
        # The sum itself may be too large.
        np.add.at(whole, place, sizes // number[place])
        np.add.at(remainder, place, sizes % number[place])
        return whole + remainder // np.maximum(number, 1)
