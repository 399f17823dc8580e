"""Every point that a plan requests, by start of processes, unless it was left out."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TypeVar

from nhalf.base.listing import few
from nhalf.measure.plan.axes import axes_for, combinations
from nhalf.measure.plan.plan import Plan, Point, Start
from nhalf.measure.plan.state import AdaptiveCurve, RunState
from nhalf.measure.probe.pattern import PatternInfo
from nhalf.measure.probe.subject import Subject
from nhalf.store.keys import parse_axes

Value = TypeVar("Value")


@dataclass(frozen=True)
class Family:
    """One pattern of a block on one start: its points combine all sizes and all values of axes."""

    block: int
    curve: AdaptiveCurve
    axes: tuple[str, ...]
    sizes: tuple[int, ...]
    adaptive: bool
    """Whether further sizes may be inserted."""


@dataclass
class Thinning:
    """How a block is thinned: its launches, and the strides through its sizes and axes.

    `inserted` is the stride through the sizes that were inserted between those of the plan, 0 for
    none of them. A block without launches is left out.
    """

    launches: int
    sizes: int = 1
    axes: int = 1
    inserted: int = 1

    def in_words(self, launches: int) -> str:
        """Describe what is left out of a block with this many launches; '' if nothing is."""
        if self.launches == 0:
            return "left out, because all of its points do not fit into the time"
        omissions = {
            f"{self.launches} of {launches} launches": self.launches < launches,
            "no sizes between those of the plan": self.sizes == 1 and self.inserted == 0,
            f"every {_ordinal(self.inserted)} size between those of the plan": (
                self.sizes == 1 and self.inserted > 1
            ),
            f"every {_ordinal(self.sizes)} size": self.sizes > 1,
            f"every {_ordinal(self.axes)} value of axes": self.axes > 1,
        }
        return ", ".join(text for text, is_so in omissions.items() if is_so)


@dataclass
class Agenda:
    """The points of a plan on its subjects, without those that `state` rules out.

    `further` maps the numbers of launches beyond the plan to the points that they measure.
    """

    plan: Plan
    subjects: Sequence[Subject]
    state: RunState
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
        """Return every start that is not ruled out, in the order of the plan."""
        return [
            start
            for start in self._families
            if start.subject not in self.state.failed and start not in self.state.refused
        ]

    def families(self, start: Start) -> list[Family]:
        """Return the families of one start."""
        return self._families[start]

    def every_family(self) -> Iterator[Family]:
        """Iterate over all families, start by start."""
        return (family for families in self._families.values() for family in families)

    def points(self, start: Start) -> dict[Point, int]:
        """Return every point of a start, with the number of the first block that requests it."""
        if start not in self._points:
            blocks_by_point: dict[Point, int] = {}
            for family in self._families[start]:
                for point in self._points_of(family, self.thinned[family.block]):
                    if self.state.pursues(start.subject, point):
                        blocks_by_point.setdefault(point, family.block)
            self._points[start] = blocks_by_point
        return self._points[start]

    def todo(self, start: Start, launch: int) -> list[Point]:
        """Return the points of a start that a launch still has to measure."""
        key, done, impossible = start.subject, self.state.done, self.state.impossible
        return [
            point
            for point, block in self.points(start).items()
            if self._asks(block, launch, point)
            and (key, launch, point) not in done
            and (key, point) not in impossible
        ]

    def block_of(self, start: Start, launch: int, point: Point) -> int | None:
        """Return the block that requests a point in a launch; None if it was left out."""
        block = self.points(start).get(point)
        return block if block is not None and self._asks(block, launch, point) else None

    def _asks(self, block: int, launch: int, point: Point) -> bool:
        """Whether a launch is to measure a point of a block."""
        return launch < self.thinned[block].launches or point in self.further.get(launch, ())

    def remaining_points(self) -> Counter[tuple[Start, int, int]]:
        """Count the points still to be measured, by start, launch and block."""
        counts: Counter[tuple[Start, int, int]] = Counter()
        for start in self.starts():
            blocks = self.points(start)
            for launch in range(self.launches()):
                counts.update((start, launch, blocks[point]) for point in self.todo(start, launch))
        return counts

    def launches(self) -> int:
        """Return the highest number of launches of any block, with those beyond the plan."""
        planned = max((thinning.launches for thinning in self.thinned), default=0)
        return max(planned, max(self.further, default=-1) + 1)

    def changed(self) -> None:
        """Discard cached points after a change of sizes, thinning or what is ruled out."""
        self._points.clear()

    def lacks_inserted_sizes_alone(self) -> bool:
        """Whether all that is left out, if anything, are sizes between those of the plan."""
        return all(
            replace(thinning, inserted=1) == Thinning(self.plan.launches_of(block))
            for block, thinning in zip(self.plan.blocks, self.thinned, strict=True)
        )

    def left_out(self) -> list[str]:
        """Describe what was thinned, a line for blocks thinned alike."""
        patterns_by_text: dict[str, dict[str, None]] = {}
        for block, thinning in zip(self.plan.blocks, self.thinned, strict=True):
            text = thinning.in_words(self.plan.launches_of(block))
            if text:
                patterns_by_text.setdefault(text, {}).update(dict.fromkeys(block.patterns))
        return [f"{few(list(patterns), 3)}: {text}" for text, patterns in patterns_by_text.items()]

    def unfinished(self) -> tuple[int, int] | None:
        """Return how many launches are complete, and how many are planned; None if all are.

        Missing launches beyond the plan are no loss, and a resumed run does not know of them.
        """
        missing = {launch for _, launch, _ in self.remaining_points()} - set(self.further)
        if not missing:
            return None
        return min(missing), max(self.plan.launches_of(block) for block in self.plan.blocks)

    def unmeasured(self) -> dict[str, tuple[int, int]]:
        """Return (points without any launch, requested points) by pattern."""
        requested: dict[str, set[tuple[str, Point]]] = {}
        for start, families in self._families.items():
            for family in families:
                all_points = self._points_of(family, Thinning(1))
                requested.setdefault(family.curve.pattern, set()).update(
                    (start.subject, point) for point in all_points
                )
        measured = {(key, point) for key, _, point in self.state.done}
        return {
            pattern: (len(points - measured), len(points)) for pattern, points in requested.items()
        }

    def inserted(self, family: Family) -> list[int]:
        """Return the sizes of a family that were inserted between those of the plan."""
        return sorted({*(self.state.sizes_of(family.curve) or ())} - {*family.sizes})

    def _with_inserted(self, family: Family, stride: int) -> Sequence[int]:
        """Return the sizes of a family, with inserted ones at a stride."""
        refined = self.state.sizes_of(family.curve)
        if stride == 1 or not refined:
            return refined or family.sizes
        return sorted({*family.sizes, *(self.inserted(family)[::stride] if stride else ())})

    def _families_of(self, subject: Subject) -> Iterator[Family]:
        """Yield the families that the plan requests of a subject and that it can measure."""
        for number, block in enumerate(self.plan.blocks):
            if not block.is_for(subject.transport, subject.setting):
                continue
            for name in block.patterns:
                info = subject.infos.get(name)
                if info is None or not info.present or self._left_to_others(subject, info):
                    continue
                axis_texts = axes_for(info, block.axes)
                if axis_texts is None:
                    continue
                for ranks in block.ranks:
                    if not info.runs_on(ranks):
                        continue
                    sizes = block.sizes_on(ranks)
                    axes = _axes(info, axis_texts, ranks)
                    if not axes:
                        continue
                    plain = info.sized and axes == ("",) and info.timing == "first-rank"
                    for placement in block.parsed_placements:
                        if not placement.fits(ranks):
                            continue
                        yield Family(
                            number,
                            AdaptiveCurve(subject.key, name, ranks, placement.text, block.bytes),
                            axes,
                            info.sizes(sizes.size_bytes, axes),
                            sizes.adaptive and plain and not self.state.like,
                        )

    def _left_to_others(self, subject: Subject, info: PatternInfo) -> bool:
        """Whether a pattern needs an option that only other subjects are started with."""
        if not info.option or info.option in self.plan.options.split(","):
            return False
        capable = [
            subject for subject in self.subjects if info.option in subject.options.split(",")
        ]
        return bool(capable) and subject not in capable

    def _points_of(self, family: Family, thinning: Thinning) -> Iterator[Point]:
        """Yield the points of a family; inserted sizes are the first to go when it is thinned."""
        curve = family.curve
        sizes: Sequence[int] = strided(family.sizes, thinning.sizes)
        if thinning.sizes == 1:
            sizes = self._with_inserted(family, thinning.inserted)
        for axes in strided(family.axes, thinning.axes):
            if self.state.like:
                key = (curve.pattern, curve.ranks, curve.placement, axes)
                sizes = strided(self.state.like.get(key, ()), thinning.sizes)
            for size in sizes:
                yield Point(curve.pattern, curve.ranks, size, curve.placement, axes)


def _ordinal(number: int) -> str:
    return {2: "second", 4: "fourth", 8: "eighth"}.get(number, f"{number}th")


def strided(values: Sequence[Value], stride: int) -> list[Value]:
    """Select values at a stride; both ends are kept."""
    selected = list(values[::stride])
    if values and (len(values) - 1) % stride:
        selected.append(values[-1])
    return selected


def _axes(info: PatternInfo, axis_texts: Mapping[str, str], ranks: int) -> tuple[str, ...]:
    """Return the combinations of a pattern's axes, without classes too small for the ranks."""
    texts = combinations(info.axes, axis_texts, ranks)
    return tuple(text for text in texts if info.runs_on(ranks, parse_axes(text).get("class", "")))
