# SPDX-License-Identifier: Apache-2.0
"""Every point that a plan asks for, by start of processes, as far as it was not thinned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TypeVar

from nhalf.base.listing import few
from nhalf.measure.plan.algorithm import axes_for
from nhalf.measure.plan.axes import combinations
from nhalf.measure.plan.plan import Plan, Point, Start
from nhalf.measure.plan.sizes import sizes_of
from nhalf.measure.plan.state import Curve, State
from nhalf.measure.probe.pattern import PatternInfo
from nhalf.measure.probe.subject import Subject
from nhalf.sites.placement import fits
from nhalf.store.axes import parse_axes

Value = TypeVar("Value")


@dataclass(frozen=True)
class Family:
    """One pattern of a block on one start: its points are all sizes with all values of axes."""

    block: int
    curve: Curve
    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    adaptive: bool
    """Whether further sizes may be put in between."""


@dataclass
class Thinning:
    """How a block is thinned: its launches, and every how many of its sizes and axes are left.

    With no launch at all the block is left out.
    """

    launches: int
    sizes: int = 1
    axes: int = 1

    def in_words(self, launches: int) -> str:
        """What is left out of a block with this many launches, '' if nothing is."""
        if self.launches == 0:
            return "left out, because all of its points do not fit into the time"
        said = {
            f"{self.launches} launch{'es' * (self.launches > 1)} instead of {launches}": (
                self.launches < launches
            ),
            f"one in {self.sizes} sizes": self.sizes > 1,
            f"one in {self.axes} values of axes": self.axes > 1,
        }
        return ", ".join(text for text, is_so in said.items() if is_so)


@dataclass
class Agenda:
    """The points of a plan on its subjects, as far as `state` does not rule them out.

    `further` are launches beyond those of the plan, by number, each with the points that it is for.
    """

    plan: Plan
    subjects: Sequence[Subject]
    state: State
    thinned: list[Thinning] = field(init=False)
    infos: dict[str, PatternInfo] = field(init=False)
    further: dict[int, frozenset[Point]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        launches = [self.plan.launches_of(block) for block in self.plan.blocks]
        self.thinned = [Thinning(number) for number in launches]
        self.infos = {
            name: info for subject in self.subjects for name, info in subject.infos.items()
        }
        self._families: dict[Start, list[Family]] = {}
        for subject in self.subjects:
            for family in self._families_of(subject):
                start = Start(subject.key, family.curve.ranks, family.curve.placement)
                self._families.setdefault(start, []).append(family)
        self._points: dict[Start, dict[Point, int]] = {}

    def starts(self) -> list[Start]:
        """Every start that is not ruled out, in the order of the plan."""
        return [
            start
            for start in self._families
            if start.subject not in self.state.failed and start not in self.state.refused
        ]

    def families(self, start: Start) -> list[Family]:
        """What is measured on one start."""
        return self._families[start]

    def every_family(self) -> Iterator[Family]:
        """What is measured, start by start."""
        return (family for found in self._families.values() for family in found)

    def points(self, start: Start) -> dict[Point, int]:
        """Every point of a start, with the number of the block that asks for it first."""
        if start not in self._points:
            found: dict[Point, int] = {}
            for family in self._families[start]:
                for point in self._points_of(family, self.thinned[family.block]):
                    found.setdefault(point, family.block)
            self._points[start] = found
        return self._points[start]

    def todo(self, start: Start, launch: int) -> list[Point]:
        """The points of a start that a launch still has to measure."""
        key, done, impossible = start.subject, self.state.done, self.state.impossible
        return [
            point
            for point, block in self.points(start).items()
            if self._asks(block, launch, point)
            and (key, launch, point) not in done
            and (key, point) not in impossible
        ]

    def wanted(self, start: Start, launch: int, point: Point) -> int | None:
        """The block that still asks for a point in a launch; None if it was left out."""
        block = self.points(start).get(point)
        return block if block is not None and self._asks(block, launch, point) else None

    def _asks(self, block: int, launch: int, point: Point) -> bool:
        """Whether a launch is to measure a point of a block."""
        return launch < self.thinned[block].launches or point in self.further.get(launch, ())

    def left(self) -> Counter[tuple[Start, int, int]]:
        """How many points are still to come, by start, launch and block."""
        counts: Counter[tuple[Start, int, int]] = Counter()
        for start in self.starts():
            blocks = self.points(start)
            for launch in range(self.launches()):
                counts.update((start, launch, blocks[point]) for point in self.todo(start, launch))
        return counts

    def launches(self) -> int:
        """The launches of the block that has most, and those beyond the plan."""
        planned = max((one.launches for one in self.thinned), default=0)
        return max(planned, max(self.further, default=-1) + 1)

    def changed(self) -> None:
        """Forget what was worked out: sizes, thinning or what is ruled out are others now."""
        self._points.clear()

    def left_out(self) -> list[str]:
        """What was thinned, a line for the blocks with the same lot, and what is still to come."""
        said: dict[str, dict[str, None]] = {}
        for block, thinning in zip(self.plan.blocks, self.thinned, strict=True):
            what = thinning.in_words(self.plan.launches_of(block))
            if what:
                said.setdefault(what, {}).update(dict.fromkeys(block.patterns))
        lines = [f"{few(list(patterns), 3)}: {what}" for what, patterns in said.items()]
        # Launches beyond the plan are no loss, and a resumed run would not know of them.
        left = {launch for _, launch, _ in self.left()} - set(self.further)
        if left:
            planned = max(one.launches for one in self.thinned)
            lines.append(f"the time was up in launch {min(left) + 1} of {planned}")
        return lines

    def unmeasured(self) -> dict[str, tuple[int, int]]:
        """By pattern, how many of how many points were asked for and have no launch at all."""
        asked: dict[str, set[tuple[str, Point]]] = {}
        for start, families in self._families.items():
            for family in families:
                whole = self._points_of(family, Thinning(1))
                asked.setdefault(family.curve.pattern, set()).update(
                    (start.subject, point) for point in whole
                )
        measured = {(key, point) for key, _, point in self.state.done}
        return {pattern: (len(points - measured), len(points)) for pattern, points in asked.items()}

    def _families_of(self, subject: Subject) -> Iterator[Family]:
        """What the plan asks of one subject and it can do."""
        for number, block in enumerate(self.plan.blocks):
            if not block.is_for(subject.transport, subject.setting):
                continue
            for name in block.patterns:
                info = subject.infos.get(name)
                if info is None or not info.present or self._left_to_others(subject, info):
                    continue
                given = axes_for(info, block.axes)
                if given is None:
                    continue
                for ranks in block.ranks:
                    if not info.runs_on(ranks):
                        continue
                    sizes = sizes_of(block.bytes, ranks)
                    axes = _axes(info, given, ranks)
                    if not axes:
                        continue
                    plain = info.sized and axes == ("",) and info.timing == "first-rank"
                    for placement in block.placements:
                        if not fits(placement, ranks):
                            continue
                        yield Family(
                            number,
                            Curve(subject.key, name, ranks, placement, block.bytes),
                            axes,
                            info.sizes(sizes.size_bytes),
                            sizes.adaptive and plain and not self.state.like,
                        )

    def _left_to_others(self, subject: Subject, info: PatternInfo) -> bool:
        """Whether a pattern needs an option that others are started with, and not this one."""
        if not info.option or info.option in self.plan.options.split(","):
            return False
        able = [one for one in self.subjects if info.option in one.options.split(",")]
        return bool(able) and subject not in able

    def _points_of(self, family: Family, thinning: Thinning) -> Iterator[Point]:
        """The points of a family; sizes that were put in between go first when it is thinned."""
        curve = family.curve
        sizes: Sequence[int] = every(family.sizes, thinning.sizes)
        if thinning.sizes == 1:
            sizes = self.state.sizes_of(curve) or sizes
        for axes in every(family.axes, thinning.axes):
            if self.state.like:
                key = (curve.pattern, curve.ranks, curve.placement, axes)
                sizes = every(self.state.like.get(key, ()), thinning.sizes)
            for size in sizes:
                yield Point(curve.pattern, curve.ranks, size, curve.placement, axes)


def every(values: Sequence[Value], stride: int) -> list[Value]:
    """Every this many of some values; both ends are kept."""
    kept = list(values[::stride])
    if values and (len(values) - 1) % stride:
        kept.append(values[-1])
    return kept


def _axes(info: PatternInfo, given: Mapping[str, str], ranks: int) -> tuple[str, ...]:
    """The combinations of a pattern's axes, without classes too small for this many ranks."""
    every = combinations(info.axes, given, ranks)
    return tuple(one for one in every if info.runs_on(ranks, parse_axes(one).get("class", "")))
