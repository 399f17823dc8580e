"""The operations of all ranks as a replay takes them, and the calls that make up each of them.

Of operations that have a count for each rank, a trace tells each rank's own block: what it gives to
all or to a root, gets from a root, or gets of a sum. Of what it sends to each other rank it tells
only the sum, which is its share there.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from functools import cached_property
from typing import Self

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.base.operations import BY_NAME
from nhalf.facts.fact import fact
from nhalf.facts.program import schedule as schedules
from nhalf.facts.program.distinct import distinct_rows, place_of_each
from nhalf.facts.program.operations import (
    BESIDE,
    FROM_ROOT,
    IN_PLACE,
    ROOT,
    SCATTERS,
    SHARES,
    TO_ROOT,
    CallForm,
    Places,
    is_non_blocking,
    is_persistent,
    operation,
)
from nhalf.facts.program.pairing import Route
from nhalf.facts.program.program import Program

STEPS = 64
"""Shares that are no whole numbers up to this one are in as many parts of the mean block."""
DIVIDED = ("reduce_scatter",)
"""Operations whose ranks give a whole vector; the tag tells what each gets of it."""
VARYING = frozenset(name for name, row in BY_NAME.items() if row.is_varying)


def shares_by_operation(
    operation: Places, rank: Places, block_bytes: Places, count: int
) -> tuple[Places, Sequence[str]]:
    """By operation, of which there are `count`, the place of its shares among texts to be put after
    its call, the first of which is ''. The other arguments are by parts of ranks, as far as their
    blocks are known.
    """
    places, texts = dict[bytes, int](), [""]
    shares = np.zeros(count, np.int64)
    order = np.lexsort((rank, operation))
    operation, block_bytes = operation[order], block_bytes[order]
    begins = np.flatnonzero(np.diff(operation, prepend=-1))
    for number, blocks in zip(operation[begins], np.split(block_bytes, begins[1:]), strict=False):
        if not blocks.any():
            continue
        own = blocks // np.gcd.reduce(blocks)
        if own.max() > STEPS:
            own = np.rint(STEPS * len(blocks) / blocks.sum() * blocks).astype(np.int64)
        place = places.setdefault(own.tobytes(), len(texts))
        texts += [_text(own)] if place == len(texts) else []
        shares[number] = place
    return shares, texts


def _text(shares: Places) -> str:
    """The shares in smallest numbers, as few as repeat themselves."""
    shares = shares // np.gcd.reduce(shares)
    few = next(n for n in range(1, len(shares) + 1) if np.array_equal(shares[n:], shares[:-n]))
    return SHARES + ":".join(map(str, shares[:few].tolist()))


Work = tuple[str, tuple[int, ...], int]
"""What ranks do in an operation once nobody is waited for: its call, with ROOT and its place unless
that is the first, IN_PLACE if it is so, SHARES if they are known, and BESIDE if its wait completes
several, its ranks and the mean size of their input. Of a rank that only sends its part to a root
the call is '', and the ranks are both.
"""
SEATS_MOST = 1024
"""Ranks of an operation of which each one's own time is told apart; of more, all leave together."""
WAITS_MAX = 16
"""Kinds of waits for several operations that are told apart; of others each goes on by itself."""


class Role(IntEnum):
    """Whom a rank waits for, as native/replay/columns.hpp has it."""

    ALL, ROOT, NOBODY = range(3)


@dataclass(frozen=True, eq=False)
class OperationParts:
    """The parts of ranks in operations, in the order of steps.

    By part: its step, by its place in a script, its form, the number of its operation, its role,
    whether its rank is the root, and its work, a place in `works`. There are `operations`.
    By work: the `seats` of the rank among the ranks, where only a root is waited for; else -1.
    """

    step: Places
    form: Places
    operation: Places
    role: Places
    is_root: Places
    work: Places
    works: Sequence[Work]
    seats: Sequence[int]
    operations: int

    @classmethod
    def of(
        cls, actors: Sequence[schedules.Actor], first: Places, forms: Sequence[CallForm]
    ) -> Self:
        """The parts of actors whose steps are from `first` on."""
        columns = [_columns(*own) for own in zip(actors, first.tolist(), strict=False)]
        step, rank, form, communicator, number, root, size_bytes, tag = np.concatenate(
            [np.zeros((8, 0), np.int64), *columns], axis=1
        )
        meetings = _Meetings(communicator, number, rank)
        number = meetings.operation
        names = [operation(of_call.call) for of_call in forms]
        comes_from, goes_to, scatters, varies, is_divided = (
            np.array([name in chosen for name in names], bool)[form]
            for chosen in (FROM_ROOT, TO_ROOT, SCATTERS, VARYING, DIVIDED)
        )
        is_root = rank == root
        # Where a rank lacks calls, its later ones meet others, which may have another root.
        roots = np.bincount(number[is_root], minlength=meetings.count)
        has_root = roots[number] == 1
        root_of = np.full(meetings.count, -1)
        root_of[number[is_root & has_root]] = root[is_root & has_root]
        role = np.where(comes_from & has_root, Role.ROOT, Role.ALL)
        role[goes_to & has_root & ~is_root] = Role.NOBODY
        # The root of a scatter holds all blocks; the other ranks have the size of one.
        is_whole = scatters & is_root
        meetings.keep_own(size_bytes, is_whole, is_whole & varies)
        mean_bytes = meetings.mean(size_bytes, ~is_whole | varies)[number]
        own_bytes = np.where(is_divided, tag >> 1, size_bytes)[varies]
        shares, texts = shares_by_operation(number[varies], rank[varies], own_bytes, meetings.count)
        only_sends = role == Role.NOBODY
        blocks = ~np.array([is_non_blocking(of_call.call) for of_call in forms], bool)[form]
        amounts = np.array([len(own) for own in meetings.member_sets], np.int64)
        is_few = amounts[meetings.members][number] <= SEATS_MOST
        is_begun = np.array([_goes_on(of_form) for of_form in forms], bool)[form]
        beside: Places = np.zeros(len(step), np.int64)
        besides: Sequence[str] = [""]
        if is_begun.any():
            alike = distinct_rows(form, meetings.members[number], root_of[number], tag & 1)
            alike = np.where(is_begun & (shares[number] == 0), alike.astype(np.int64), -1)
            beside, besides = _beside(Completions.of_actors(actors, first), step, alike, mean_bytes)
        kinds = np.stack([
            np.where(only_sends, -1, form),
            np.where(only_sends, rank, meetings.members[number]),
            np.where(only_sends, root, root_of[number]),
            np.where(only_sends, size_bytes, mean_bytes),
            np.where(only_sends, 0, tag & 1),
            np.where(only_sends, 0, shares[number]),
            np.where((role == Role.ROOT) & blocks & is_few, rank, -1),
            np.where(only_sends, 0, beside),
        ])  # fmt: skip
        work = distinct_rows(*kinds)
        works: list[Work] = []
        seats: list[int] = []
        for row in kinds[:, place_of_each(work)].T.tolist():
            call, who, to, size, place, share, own, waits = row
            members = meetings.member_sets[who] if call >= 0 else (who, to)
            name = _named(forms[call].call, members, to) + IN_PLACE * place if call >= 0 else ""
            works.append((name + texts[share] + besides[waits], members, size))
            seats.append(members.index(own) if own >= 0 else -1)
        return cls(step, form, number, role, is_root, work, works, seats, meetings.count)

    def at(self, step: int) -> int:
        """The part that a step is."""
        return int(np.searchsorted(self.step, step))


def _named(call: str, members: tuple[int, ...], root: int) -> str:
    """A call with the place of its root, unless that is the first or there is none."""
    place = members.index(root) if root in members else 0
    return f"{call}{ROOT}{place}" if place else call


def _goes_on(form: CallForm) -> bool:
    """Whether a call begins an operation, and nothing else."""
    return is_non_blocking(form.call) and not is_persistent(form.call)


def _beside(
    ended: Completions, step: Places, alike: Places, size_bytes: Places
) -> tuple[Places, Sequence[str]]:
    """By part the place of the sizes that its wait completes among texts to be put after its call,
    the first of which is '': where all are `alike` one number, and that is not -1.
    """
    places, texts = dict[str, int](), [""]
    beside = np.zeros(len(step), np.int64)
    is_part = np.isin(ended.completed, step)
    wait, part = ended.step[is_part], np.searchsorted(step, ended.completed[is_part])
    begins = np.flatnonzero(np.diff(wait, prepend=-1))
    for own in np.split(part, begins[1:]) if len(begins) < len(part) else ():
        if len(own) < 2 or alike[own].min() < 0 or np.ptp(alike[own]):
            continue
        text = BESIDE + ":".join(map(str, size_bytes[own].tolist()))
        if text in places or len(places) < WAITS_MAX:
            beside[own] = places.setdefault(text, len(texts))
            texts += [text] if len(texts) == len(places) else []
    return beside, texts


def _columns(actor: schedules.Actor, first: int) -> Places:
    """Step, rank, form, communicator, number, root, size and tag of an actor's operations."""
    places = actor.places_of(schedules.COLLECTIVE)
    names = ("communicator", "number", "partner", "size_bytes", "tag")
    own = [actor.column(name)[places] for name in names]
    return np.stack([first + places, np.full(len(places), actor.rank), actor.form[places], *own])


class _Meetings:
    """The operations of parts. Ranks count theirs on each communicator, so that in each operation
    those take part that have as many.
    """

    def __init__(self, communicator: Places, number: Places, rank: Places) -> None:
        index = distinct_rows(communicator)
        count = np.zeros(len(place_of_each(index)), np.int64)
        np.maximum.at(count, index, number + 1)
        first = np.cumsum(count) - count
        self.operation = first[index] + number
        self.count = int(count.sum())
        self.member_sets: list[tuple[int, ...]] = []
        self.members = np.zeros(self.count, np.int64)
        """By operation: the place of its ranks in `member_sets`."""
        for own, begin in enumerate(first.tolist()):
            amounts = np.bincount(rank[index == own])
            begins, last = begin, 0
            for amount in np.unique(amounts[amounts > 0]).tolist():
                self.members[begins : begin + amount] = len(self.member_sets)
                self.member_sets.append(tuple(np.flatnonzero(amounts > last).tolist()))
                begins, last = begin + amount, amount

    def keep_own(self, sizes: Places, is_whole: Places, is_wanted: Places) -> None:
        """Take what the others have from the wanted ones of sizes that are of all ranks."""
        sums = np.bincount(self.operation[~is_whole], sizes[~is_whole], minlength=self.count)
        own_bytes = sizes - sums.astype(np.int64)[self.operation]
        sizes[is_wanted] = np.maximum(own_bytes, 0)[is_wanted]

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

    @classmethod
    def of_actors(cls, actors: Sequence[schedules.Actor], first: Places) -> Completions:
        """The steps of actors that begin on `first`, which complete sends and operations."""
        return cls.of([
            (begin + actor.ended.waits, begin + actor.ended.begun)
            for actor, begin in zip(actors, first.tolist(), strict=False)
        ])  # fmt: skip


@dataclass(frozen=True, eq=False)
class Script:
    """All actors, and the messages of which both ends were traced.

    The steps of actor a are those from `first[a]` on, of `forms`; `subject` is the message of each,
    or its part in an operation, -1 if it has neither. `awaited` has the messages that steps
    complete. `routes` are the distinct ones, `route` is that of each message, and `always_waits`
    whether it waits for its receive at any size.
    """

    actors: Sequence[schedules.Actor]
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

    @property
    def times_s(self) -> tuple[Floats, Floats]:
        """When each step began and ended."""
        none = np.zeros(0)
        own = [(none, none), *(actor.times_s for actor in self.actors)]
        begins_s, ends_s = map(np.concatenate, zip(*own, strict=True))
        return begins_s, ends_s

    @cached_property
    def ended(self) -> Completions:
        """The steps that began the sends and operations which steps complete."""
        return Completions.of_actors(self.actors, self.first)


@fact
def script(program: Program) -> Script:
    """The script of a program's schedule."""
    actors, pairs = schedules.schedule(program), schedules.pairing(program)
    forms = max((actor.forms for actor in actors), key=len, default=())
    first = np.cumsum([0, *(len(actor.form) for actor in actors)])
    subject, form = (
        np.concatenate([np.zeros(0, np.int32), *columns], dtype=np.int32, casting="same_kind")
        for columns in ([actor.message for actor in actors], [actor.form for actor in actors])
    )
    always_waits = np.zeros(len(pairs.route), bool)
    waits = np.array([of.call in schedules.ALWAYS_WAITS for of in forms], bool)
    sends = subject[waits[form]] if waits.any() else subject[:0]
    always_waits[sends[sends >= 0]] = True
    parts = OperationParts.of(actors, first, forms)
    subject[parts.step] = np.arange(len(parts.step))
    awaited = Completions.of([_awaited(*own) for own in zip(actors, first.tolist(), strict=False)])
    return Script(
        actors, forms, first, form, subject, awaited, pairs.routes, pairs.route, always_waits, parts
    )


def _awaited(actor: schedules.Actor, first: int) -> tuple[Places, Places]:
    """The steps of an actor that complete messages, once for each, and these."""
    own = actor.message[actor.completes.begun]
    has_message = own >= 0
    return np.int32(first) + actor.completes.waits[has_message], own[has_message]
