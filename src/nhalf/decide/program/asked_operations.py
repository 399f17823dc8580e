"""Operations of a program as an MPI library does them on a machine, by what it answers when asked.

Each kind of operation is asked once for every size and every placement of its ranks. Where there
are more than SIZES_MAX sizes, those of a geometric grid are asked, and the sizes between two of
them by themselves only where the library changes its algorithm.
"""

import math
import re
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import TypeVar

import numpy as np

from nhalf.base.errors import NhalfError
from nhalf.base.operations import BY_NAME, Operation
from nhalf.decide.program.costs import pattern_of
from nhalf.decide.program.counted import counted_works
from nhalf.decide.program.crowding import Nodes, at_once, followed_ratio, slower_ratios
from nhalf.facts.program.disturbance import undisturbed
from nhalf.facts.program.operations import (
    IN_PLACE,
    is_non_blocking,
    is_persistent,
    operation,
    place_of_root,
    shares_of,
    sizes_beside,
    with_any_root,
)
from nhalf.facts.program.program import Program, has_whole_timeline
from nhalf.facts.program.script import Work
from nhalf.machines.algorithms import algorithms
from nhalf.machines.composed import Composer
from nhalf.machines.message import Messages
from nhalf.machines.parts import parts_of
from nhalf.machines.topology import Crossbar, FatTree, elementary
from nhalf.measure.virtual.subject import (
    BESIDE_IT,
    PLACED_IN,
    ROOTED,
    SHARED,
    WITH_WORK,
    Question,
    Times,
)

SIZES_MAX = 24
"""Sizes of an operation that are asked without looking what lies between them."""
PLACEMENTS_MAX = 8
"""Sets of nodes that are asked for, each in its own launch."""
ROOTS_MAX = 16
"""Roots of an operation that are asked for; the others' answers are those of the nearest one."""
SHARES_MAX = 16
"""Kinds of shares of ranks that are asked for; other operations are asked with equal blocks."""
EQUAL_SHARES = "1"
CLOSE = 0.02
"""An algorithm whose messages take this share more or less than the library is its algorithm."""
OWN = "its own"
PERSISTENT = "-persistent"

_Value = TypeVar("_Value", int, str)
Ask = Callable[[Nodes, Iterable[Question]], Mapping[Question, Times]]
"""What operations of ranks on nodes take, without those that have no answer."""


@dataclass(frozen=True)
class _Curve:
    """The sizes of an operation that were asked, in their order, with seconds and algorithms."""

    sizes_bytes: Sequence[int]
    times_s: Sequence[float]
    names: Sequence[str]

    def at(self, size_bytes: int) -> tuple[float, str] | None:
        """Seconds and algorithm; None between two algorithms, and beyond what was asked."""
        place = bisect_left(self.sizes_bytes, size_bytes)
        if place == len(self.sizes_bytes):
            return None
        if self.sizes_bytes[place] == size_bytes:
            return self.times_s[place], self.names[place]
        if place == 0 or self.names[place - 1] != self.names[place] or self.names[place] == OWN:
            return None
        ends = slice(place - 1, place + 1)
        sizes, times = (np.log(values[ends]) for values in (self.sizes_bytes, self.times_s))
        return math.exp(float(np.interp(math.log(size_bytes), sizes, times))), self.names[place]

    def nearest(self, size_bytes: int) -> int:
        """The size next to this one that was asked."""
        return min(self.sizes_bytes, key=lambda size: abs(size - size_bytes))


@dataclass(frozen=True)
class AskedOperations:
    """A library by its name in lists and its title, asked on the machine of messages.

    `unanswered` are the operations that it was asked for in vain.
    """

    name: str
    title: str
    messages: Messages
    ask: Ask
    unanswered: set[str] = field(default_factory=set)
    refusals: set[str] = field(default_factory=set)
    curves: dict[tuple[Nodes, str], _Curve] = field(default_factory=dict)
    slower_ratio: dict[tuple[str, int, Nodes], float] = field(default_factory=dict)
    at_once: dict[tuple[str, int], list[Nodes]] = field(default_factory=dict)
    placed: dict[tuple[Nodes, bytes], Nodes] = field(default_factory=dict)
    nearest: dict[tuple[Nodes, str], str] = field(default_factory=dict)
    leaves_s: dict[tuple[Nodes, Question], Times] = field(default_factory=dict)

    def prepare(self, works: Iterable[Work], nodes: Sequence[int]) -> None:
        """Ask for operations of a program whose ranks are on these nodes, as far as needed."""
        works = sorted(works)
        self.slower_ratio.update(slower_ratios(self.messages, works, nodes))
        for kind, groups in at_once(works).items():
            self.at_once[kind] = [tuple(nodes[rank] for rank in group) for group in groups]
        by_nodes: dict[Nodes, set[Question]] = defaultdict(set)
        for call, members, size_bytes in works:
            if question := question_of(call, len(members), size_bytes):
                by_nodes[self._placed([nodes[rank] for rank in members])].add(question)
        ordered = sorted(by_nodes.items(), key=lambda item: (-len(item[0]), -len(item[1])))
        for chosen, questions in ordered[:PLACEMENTS_MAX]:
            try:
                self._prepare(chosen, questions)
            except NhalfError as error:
                self.refusals.add(error.message)
        if len(ordered) > PLACEMENTS_MAX:
            self.refusals.add(f"communicators on more than {PLACEMENTS_MAX} sets of nodes")

    def _prepare(self, nodes: Nodes, questions: set[Question]) -> None:
        self._keep_nearest(nodes, {pattern for pattern, _ in questions})
        sizes: dict[str, list[int]] = defaultdict(list)
        for pattern, size_bytes in sorted(
            {(self.nearest[nodes, pattern], size_bytes) for pattern, size_bytes in questions}
        ):
            sizes[pattern].append(size_bytes)
        grid = {Question(name, size) for name, own in sizes.items() for size in _grid(own)}
        begun = {name for name in sizes if name.startswith("i") or PERSISTENT in name}
        grid |= {Question(name + WITH_WORK, size) for name, size in grid if name in begun}
        self._keep(nodes, self.ask(nodes, grid))
        between = [
            Question(name, size)
            for name, own in sizes.items()
            for size in _spread(
                [size for size in own if self._at(nodes, name, size) is None], SIZES_MAX
            )
        ]
        if between and set(between) - grid:
            self._keep(nodes, self.ask(nodes, {*grid, *between}))

    def _keep_nearest(self, nodes: Nodes, patterns: Iterable[str]) -> None:
        """Choose what stands for each pattern: another root, or equal shares."""
        shares = {pattern: pattern.partition(SHARED)[2] for pattern in patterns}
        chosen = set(_spread(sorted(set(shares.values())), SHARES_MAX))
        if not chosen.issuperset(shares.values()):
            self.refusals.add(f"blocks with more than {SHARES_MAX} kinds of shares")
        alike: dict[str, set[str]] = defaultdict(set)
        for pattern, own in shares.items():
            base = pattern if own in chosen else pattern.partition(SHARED)[0]
            self.nearest[nodes, pattern] = base
            alike[_with_any_root(base)].add(base)
        for pattern in shares:
            own_roots = sorted(alike[_with_any_root(self.nearest[nodes, pattern])], key=_root)
            stand_ins = _spread(own_roots, ROOTS_MAX)
            distances = {abs(_root(name) - _root(pattern)): name for name in stand_ins}
            self.nearest[nodes, pattern] = distances[min(distances)]

    def _keep(self, nodes: Nodes, times_s: Mapping[Question, Times]) -> None:
        by_pattern: dict[str, list[tuple[int, float]]] = defaultdict(list)
        for question, (time_s, *leaves_s) in sorted(times_s.items()):
            by_pattern[question.pattern].append((question.size_bytes, time_s))
            self.leaves_s[nodes, question] = tuple(leaves_s)
        composers: dict[int, Composer | None] = {}
        for pattern, rows in by_pattern.items():
            sizes, times = zip(*rows, strict=True)
            root = _root(pattern)
            if root not in composers:
                composers[root] = self._composer((*nodes[root:], *nodes[:root]))
            names = _names(composers[root], pattern, len(nodes), rows)
            self.curves[nodes, pattern] = _Curve(sizes, times, names)

    @property
    def reasons(self) -> tuple[str, ...]:
        """Why operations have no answer, a sentence each."""
        missing = [f"no answer for {name}" for name in sorted(self.unanswered)]
        return (*sorted(self.refusals), *missing)

    def answer(self, call: str, nodes: Sequence[int], size_bytes: int) -> tuple[float, str] | None:
        """The seconds of an operation and its algorithm; None if the library did not answer. Those
        of one wait are asked together, and each takes as much as its bytes say.
        """
        placed, question = self._question(call, nodes, size_bytes)
        answer = question and self._at(placed, *question)
        if answer is None and operation(call) in BY_NAME:
            self.unanswered.add(operation(call))
        if not answer:
            return None
        whole_bytes = sum(max(1, size) for size in sizes_beside(call)) or max(1, size_bytes)
        return max(1, size_bytes) / whole_bytes * answer[0], answer[1]

    def crowd(self, call: str, nodes: Sequence[int], size_bytes: int) -> tuple[float, float]:
        """How many times as long beside the same operation of other communicators: likely, by the
        messages of algorithms that take as long alone, or else half-way; and at most.
        """
        kind = with_any_root(call), size_bytes
        most = self.slower_ratio.get((*kind, tuple(nodes)), 1.0)
        placed, question = self._question(call, nodes, size_bytes)
        answer = question and self._at(placed, *question)
        if most <= 1 or not question or not answer:
            return math.sqrt(most), most
        root = _root(question.pattern)
        composer = self._composer((*placed[root:], *placed[:root]))
        close = _close(composer, question.pattern, len(nodes), question.size_bytes, answer[0])
        way = f"{question.size_bytes} {place_of_root(call)}"
        performed = [f"{_base(question.pattern)} {name} {way}" for name, _ in close]
        likely = followed_ratio(self.messages, self.at_once[kind], tuple(nodes), performed)
        return min(max(1.0, likely or math.sqrt(most)), most), most

    def left(self, call: str, nodes: Sequence[int], size_bytes: int) -> float:
        """The share of an operation that is left after as much work as it takes, at the size next
        to this one that was asked; 1 if none was.
        """
        placed, question = self._question(call, nodes, size_bytes)
        curve = question and self.curves.get((placed, question.pattern + WITH_WORK))
        if not question or not curve:
            return 1.0
        nearest = curve.nearest(question.size_bytes)
        whole = self._at(placed, question.pattern, nearest)
        left_s = curve.times_s[curve.sizes_bytes.index(nearest)]
        return min(1.0, left_s / whole[0]) if whole else 1.0

    def leave(
        self, call: str, nodes: Sequence[int], size_bytes: int, seat: int
    ) -> tuple[float, float]:
        """The share of an operation after which the rank in a place leaves it, and how much of that
        goes on without it, at the size next to this one that was asked; 1 and 0 if none was.
        """
        placed, question = self._question(call, nodes, size_bytes)
        curve = question and self.curves.get((placed, question.pattern))
        if not question or not curve:
            return 1.0, 0.0
        nearest = Question(question.pattern, curve.nearest(question.size_bytes))
        leaves_s = self.leaves_s.get((placed, nearest))
        if not leaves_s:
            return 1.0, 0.0
        own, least = (time_s / max(leaves_s) for time_s in (leaves_s[seat], min(leaves_s)))
        return own, own - least

    def _question(
        self, call: str, nodes: Sequence[int], size_bytes: int
    ) -> tuple[Nodes, Question | None]:
        """The nodes and the question that stand for an operation."""
        placed, question = self._placed(nodes), question_of(call, len(nodes), size_bytes)
        if question:
            pattern = self.nearest.get((placed, question.pattern), question.pattern)
            question = question._replace(pattern=pattern)
        return placed, question

    def _at(self, nodes: Nodes, pattern: str, size_bytes: int) -> tuple[float, str] | None:
        curve = self.curves.get((nodes, pattern))
        return curve.at(size_bytes) if curve else None

    def _placed(self, nodes: Sequence[int]) -> Nodes:
        """Nodes as they are asked: of those that are as far from each other, the first ones."""
        network = self.messages.machine.network
        topology = elementary(network.topology) if network else Crossbar()
        if not isinstance(topology, Crossbar | FatTree):
            return tuple(nodes)
        sizes = np.cumprod([1, *topology.down]) if isinstance(topology, FatTree) else [1]
        numbers: list[dict[int, int]] = [{} for _ in sizes]
        alike = tuple(
            own.setdefault(node // size, len(own))
            for own, size in zip(numbers, sizes, strict=True)
            for node in nodes
        )
        distances = [distance for distance, _ in self.messages.between_nodes]
        if len(sizes) == len(distances) == 1:
            return alike
        # Curves may hold from a distance of numbers on.
        apart = np.digitize(np.abs(np.subtract.outer(nodes, nodes)), distances)
        return self.placed.setdefault((alike, apart.tobytes()), tuple(nodes))

    def _composer(self, nodes: Nodes) -> Composer | None:
        """What follows the messages of algorithms between nodes; None if nothing can."""
        with suppress(NhalfError):
            return Composer(self.messages, parts_of(self.messages), nodes)
        return None


def works_of(program: Program) -> set[Work]:
    """The distinct operations of a program: call, ranks, and bytes of a rank's part."""
    if not has_whole_timeline(program):
        return set(counted_works(program))
    return {work for work in undisturbed(program).parts.works if work[0]}


def question_of(call: str, ranks: int, size_bytes: int) -> Question | None:
    """The pattern of a call in its form, and its size there; None for one that has none."""
    row = BY_NAME.get(operation(call))
    if row is None or row.flow == "among_neighbours" or ranks < 2:
        return None
    pattern = row.pattern or row.like
    sizes_bytes = sizes_beside(call) or (size_bytes,)
    own_bytes, *further_bytes = (_part_bytes(row, ranks, size) for size in sizes_bytes)
    if is_persistent(call):
        pattern += PERSISTENT
    elif is_non_blocking(call):
        pattern = f"i{pattern}"
    if root := place_of_root(call):
        pattern += f"{ROOTED}{root}"
    if IN_PLACE in call:
        pattern += PLACED_IN
    if (shares := shares_of(call)) not in ("", EQUAL_SHARES):
        pattern += f"{SHARED}{shares}"
    if further_bytes:
        pattern += BESIDE_IT + ":".join(map(str, further_bytes))
    return Question(pattern, own_bytes)


def _part_bytes(row: Operation, ranks: int, size_bytes: int) -> int:
    """The size of an operation as patterns have it."""
    _, part_bytes = pattern_of(row.name, ranks, size_bytes)
    if row.data in ("sum", "summed_blocks"):
        part_bytes += -part_bytes % 4
    return 0 if row.data == "nothing" else part_bytes


def _grid(sizes_bytes: Sequence[int]) -> Sequence[int]:
    """Sizes to be asked at first: all, or those nearest to a geometric grid."""
    if len(sizes_bytes) <= SIZES_MAX:
        return sizes_bytes
    sizes = np.array(sizes_bytes)
    steps = np.geomspace(max(1, sizes[0]), sizes[-1], SIZES_MAX)
    places = np.unique(np.abs(sizes[None, :] - steps[:, None]).argmin(axis=1))
    return [int(size) for size in sizes[places]]


def _spread(values: Sequence[_Value], most: int) -> Sequence[_Value]:
    """At most this many of values, over all of them."""
    return values[:: max(1, -(-len(values) // most))]


def _with_any_root(pattern: str) -> str:
    return re.sub(rf"{ROOTED}\d+", "", pattern)


def _root(pattern: str) -> int:
    return int(pattern.partition(ROOTED)[2].partition(" ")[0] or 0)


def _names(
    composer: Composer | None, pattern: str, ranks: int, rows: Iterable[tuple[int, float]]
) -> list[str]:
    """The algorithm of each size: of those that take as long, the one that does at most sizes."""
    close = [dict(_close(composer, pattern, ranks, *row)) for row in rows]
    counts = Counter(name for errors in close for name in errors)
    return [
        min(errors, key=lambda name: (-counts[name], errors[name]), default=OWN) for errors in close
    ]


def _base(pattern: str) -> str:
    """The operation of a pattern in any form."""
    base = pattern.partition(" ")[0].removesuffix(PERSISTENT)
    return base if base in algorithms() else base.removeprefix("i")


def _close(
    composer: Composer | None, pattern: str, ranks: int, size_bytes: int, time_s: float
) -> Iterator[tuple[str, float]]:
    """The algorithms that take as long as the library, with how much more or less they take."""
    base = _base(pattern)
    is_followed = composer and BESIDE_IT not in pattern
    for algorithm in algorithms().get(base, ()) if is_followed else ():
        composed_s = composer.time_s(base, algorithm.name, ranks, size_bytes) if composer else None
        if composed_s and abs(composed_s / time_s - 1) <= CLOSE:
            yield algorithm.name, abs(composed_s / time_s - 1)
