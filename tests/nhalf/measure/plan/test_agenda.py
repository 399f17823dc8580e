"""The points of a plan, and what is left of them where time is short."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import msgspec
import pytest

from nhalf.measure.plan import budget as budget_module
from nhalf.measure.plan.agenda import Agenda, Thinning, strided
from nhalf.measure.plan.allocation import thin, widen
from nhalf.measure.plan.budget import SLICE_MIN_S, Budget
from nhalf.measure.plan.plan import Block, Plan, Point, Start
from nhalf.measure.plan.state import AdaptiveCurve, RunState
from nhalf.measure.probe.subject import Subject

PAIRS = {"name": "pairs", "values": "1:ranks/2:x2", "fallback": "", "what": ""}
PATTERNS = [
    {"name": "pingpong", "present": True},
    {"name": "pairs", "present": True, "timing": "slowest-rank", "axes": [PAIRS]},
    {"name": "barrier", "present": True, "sized": False},
    {"name": "allreduce", "present": True, "size_multiple": 4, "timing": "operation"},
    {"name": "crowd", "present": True, "ranks_min": 4},
    {"name": "lacking", "present": False, "needs": "duplex"},
]
Make = Callable[..., Agenda]


@pytest.fixture
def make() -> Make:
    def agenda(
        *blocks: Block, subjects: int = 1, state: RunState | None = None, **plan: Any
    ) -> Agenda:
        choices: dict[str, Any] = {
            "transports": [], "mpi": [], "blocks": list(blocks), "launches": 5, "budget_s": 60.0,
            "precision": 0.01, "options": "", "seed": 1, "timeout_s": 60.0, **plan,
        }  # fmt: skip
        found = [Subject(f"s{n}", (), {"patterns": PATTERNS}) for n in range(subjects)]
        return Agenda(Plan(**choices), found, state or RunState())

    return agenda


def all_points(agenda: Agenda) -> list[Point]:
    return [point for start in agenda.starts() for point in agenda.points(start)]


def test_every_combination_is_a_point(make: Make) -> None:
    block = Block(["pairs"], [2, 4], "8,64", placements=["cores", "free"])
    agenda = make(block, subjects=2)
    assert len(agenda.starts()) == 2 * 2 * 2
    assert list(agenda.points(Start("s1", 4, "free"))) == [
        Point("pairs", 4, size, "free", f"pairs={pairs}") for pairs in (1, 2) for size in (8, 64)
    ]
    assert agenda.remaining_points().total() == 2 * 2 * (2 + 4) * 5


def test_sizes_are_those_that_the_pattern_can_have(make: Make) -> None:
    agenda = make(Block(["barrier", "allreduce"], [2], "0:8"))
    assert [(p.pattern, p.size_bytes) for p in all_points(agenda)] == [
        ("barrier", 0), ("allreduce", 0), ("allreduce", 4), ("allreduce", 8),
    ]  # fmt: skip


def test_what_cannot_be_is_left_out(make: Make) -> None:
    agenda = make(Block(["crowd", "lacking", "unheard"], [2, 4], "8"))
    assert all_points(agenda) == [Point("crowd", 4, 8)]


def test_what_needs_an_option_is_left_to_those_that_have_it(make: Make) -> None:
    patterns = [*PATTERNS, {"name": "threads", "present": True, "option": "threads=1"}]
    plain = Subject("mpi", (), {"patterns": patterns})
    several = replace(plain, transport="mpi+several", setting="several", options="threads=1")
    plan = make(Block(["threads", "pingpong"], [2], "8")).plan

    def measured(subjects: list[Subject], options: str = "") -> list[tuple[str, str]]:
        agenda = Agenda(msgspec.structs.replace(plan, options=options), subjects, RunState())
        return [(s.subject, point.pattern) for s in agenda.starts() for point in agenda.points(s)]

    assert measured([plain, several]) == [
        ("mpi", "pingpong"), ("mpi+several", "threads"), ("mpi+several", "pingpong"),
    ]  # fmt: skip
    # Where nobody has it, the probe itself says what is missing.
    assert measured([plain]) == [("mpi", "threads"), ("mpi", "pingpong")]
    assert ("mpi", "threads") in measured([plain, several], "threads=1")


def test_a_point_of_two_blocks_is_measured_once(make: Make) -> None:
    agenda = make(Block(["pingpong"], [2], "8,64"), Block(["pingpong"], [2], "64,512"))
    (start,) = agenda.starts()
    assert agenda.points(start) == {
        Point("pingpong", 2, 8): 0,
        Point("pingpong", 2, 64): 0,
        Point("pingpong", 2, 512): 1,
    }


def test_only_plain_ranges_are_refined(make: Make) -> None:
    agenda = make(
        Block(["pingpong", "pairs", "allreduce", "barrier"], [2], "0:64"),
        Block(["pingpong"], [2], "8,64"),
    )
    families = agenda.families(agenda.starts()[0])
    assert [f.curve.pattern for f in families if f.adaptive] == ["pingpong"]


def test_sizes_that_were_found_take_the_place_of_the_coarse_ones(make: Make) -> None:
    state = RunState()
    agenda = make(Block(["pingpong"], [2], "0:4"), Block(["pingpong"], [2], "512,1K"), state=state)
    state.sizes[AdaptiveCurve("s0", "pingpong", 2, "cores", "0:4")] = [0, 1, 3, 4]
    agenda.changed()
    assert [p.size_bytes for p in all_points(agenda)] == [0, 1, 3, 4, 512, 1024]


def test_done_and_impossible_points_are_not_to_do(make: Make) -> None:
    state = RunState()
    agenda = make(Block(["pingpong"], [2], "0,8,64", launches=3), state=state)
    (start,) = agenda.starts()
    state.done.add(("s0", 1, Point("pingpong", 2, 8)))
    state.impossible.add(("s0", Point("pingpong", 2, 64)))
    assert [p.size_bytes for p in agenda.todo(start, 0)] == [0, 8]
    assert [p.size_bytes for p in agenda.todo(start, 1)] == [0]
    assert agenda.todo(start, 3) == []
    assert agenda.remaining_points().total() == 2 + 1 + 2
    assert agenda.unmeasured() == {"pingpong": (2, 3)}
    state.refused[start] = "no slots"
    assert agenda.starts() == []


@pytest.mark.parametrize(
    ("values", "stride", "kept"),
    [
        ([], 2, []),
        ([1], 4, [1]),
        ([1, 2, 3], 1, [1, 2, 3]),
        ([1, 2, 3], 2, [1, 3]),
        ([1, 2, 3, 4], 2, [1, 3, 4]),
        ([1, 2, 3, 4], 9, [1, 4]),
    ],
)
def test_both_ends_are_kept(values: list[int], stride: int, kept: list[int]) -> None:
    assert strided(values, stride) == kept


def test_a_launch_beyond_the_plan_that_was_not_made_is_no_loss(make: Make) -> None:
    state = RunState()
    agenda = make(Block(["pingpong"], [2], "8"), launches=2, state=state)
    (start,) = agenda.starts()
    (point,) = agenda.points(start)
    state.done |= {("s0", launch, point) for launch in range(2)}
    agenda.further[2] = frozenset({point})
    assert agenda.remaining_points().total() == 1
    assert agenda.unfinished() is None


@pytest.mark.parametrize(
    ("thinning", "is_so"),
    [
        (Thinning(5), True),
        (Thinning(5, inserted=4), True),
        (Thinning(5, inserted=0), True),
        (Thinning(5, sizes=2), False),
        (Thinning(5, axes=2), False),
        (Thinning(3), False),
        (Thinning(0), False),
    ],
)
def test_points_of_the_plan_are_told_from_inserted_sizes(
    make: Make, thinning: Thinning, is_so: bool
) -> None:
    agenda = make(Block(["pingpong"], [2], "8,64"), Block(["barrier"], [2], "0"))
    assert agenda.lacks_inserted_sizes_alone()
    agenda.thinned[1] = thinning
    assert agenda.lacks_inserted_sizes_alone() == is_so


@pytest.mark.parametrize(
    ("of", "sizes"),
    [
        ({}, {8, 64}),
        ({"subject": "ours"}, {8, 64}),
        ({"subject": "other"}, set()),
        ({"subject": "ours", "sizes": [64]}, {64}),
    ],
)
def test_only_curves_that_go_on_have_points(
    make: Make, of: dict[str, Any], sizes: set[int]
) -> None:
    block = Block(["pingpong", "allreduce"], [2], "8,64")
    state = RunState()
    agenda = make(block, state=state)
    curve = {"pattern": "pingpong", "algorithm": "native", "ranks": 2, "placement": "cores"}
    if of.get("subject") == "ours":
        of = {**of, "subject": agenda.subjects[0].key}
    state.note({"event": "extended", "curves": [{**curve, "axes": "", **of}]})
    points = {(point.pattern, point.size_bytes) for point in all_points(agenda)}
    assert points == {("pingpong", size) for size in sizes}


class TestThinning:
    """A point of least slice takes 4 ms at first, a launch 1 s; the clock stands still."""

    @pytest.fixture(autouse=True)
    def clock(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(budget_module, "time", SimpleNamespace(monotonic=lambda: 1000.0))

    LARGE = Block(["pingpong"], [2], "0:4M")
    WIDE = Block(["pairs"], [64], "8", axes={"pairs": "1:32"})

    @staticmethod
    def points_of(agenda: Agenda, block: int) -> int:
        return sum(
            number == block for start in agenda.starts() for number in agenda.points(start).values()
        )

    def test_nothing_is_left_out_where_all_fits(self, make: Make) -> None:
        agenda = make(self.LARGE, self.WIDE)
        thin(agenda, Budget(60.0, [1, 1]))
        assert agenda.left_out() == []
        assert agenda.unfinished() == (0, 5), "nothing is measured yet"
        assert agenda.remaining_points().total() == 5 * (24 + 32)

    def test_launches_go_first(self, make: Make) -> None:
        """Five launches of 300 sizes: 6 s, and 5 s to start them."""
        agenda = make(Block(["pingpong"], [2], "0:299:1"), launches=12)
        thin(agenda, Budget(10.8))
        assert agenda.thinned[0].launches == 5
        assert agenda.thinned[0].sizes == 2
        assert agenda.left_out()[0].startswith("pingpong: 5 of 12 launches, every ")
        assert agenda.remaining_points().total() < 5 * 300

    @pytest.mark.parametrize(
        ("budget_s", "launches", "sizes"), [(5.2, 5, 6), (4.3, 3, 6), (3.05, 3, 3), (2.1, 2, 3)]
    )
    def test_more_than_a_few_launches_keep_a_curve(
        self, make: Make, budget_s: float, launches: int, sizes: int
    ) -> None:
        """A start takes 1 s, a point 4 ms."""
        agenda = make(Block(["pingpong"], [2], "0:299:1"))
        thin(agenda, Budget(budget_s))
        assert agenda.thinned[0].launches == launches
        number = agenda.remaining_points().total() / launches
        assert sizes <= number < 2 * sizes

    def test_sizes_go_before_axes_and_ends_stay(self, make: Make) -> None:
        agenda = make(self.LARGE, self.WIDE, launches=2)
        thin(agenda, Budget(4.0 + 2 * 0.004 * 50, [1, 1]))
        assert self.points_of(agenda, 1) == 32
        sizes = [p.size_bytes for p in all_points(agenda) if p.pattern == "pingpong"]
        assert sizes[0] == 0
        assert sizes[-1] == 2**22
        assert 3 <= len(sizes) < 24

    def test_then_axes_of_the_largest_block(self, make: Make) -> None:
        agenda = make(self.LARGE, self.WIDE, launches=2)
        thin(agenda, Budget(4.0 + 2 * 0.004 * 14, [1, 1]))
        assert self.points_of(agenda, 0) == 3, "the first, the sixteenth and the last"
        axes = [p.axes for p in all_points(agenda) if p.pattern == "pairs"]
        assert axes[0] == "pairs=1"
        assert axes[-1] == "pairs=32"
        assert len(axes) < 14

    def test_a_block_of_more_weight_is_left_alone_longer(self, make: Make) -> None:
        other = Block(["allreduce"], [2], "0:4M")
        agenda = make(self.LARGE, other, launches=2)
        thin(agenda, Budget(2.0 + 2 * 0.004 * 38, [10, 1]))
        assert (self.points_of(agenda, 0), self.points_of(agenda, 1)) == (13, 22)
        heavy = Block(["pingpong"], [2], "0:4M", weight=10)
        agenda = make(heavy, other, launches=2)
        thin(agenda, Budget(2.0 + 2 * 0.004 * 38, [10, 1]))
        assert (self.points_of(agenda, 0), agenda.thinned[0].sizes) == (24, 1)
        assert agenda.thinned[1].sizes > 1

    @pytest.mark.parametrize(
        ("points", "launches", "others", "kept"),
        [
            (2 * (32 + 24), 2, 24, 32),
            (32 + 2 * 24, 1, 24, 32),
            (32 + 2 * 24 - 1, 1, 24, 17),
            (20, 0, 7, 9),
        ],
    )
    def test_a_whole_block_loses_launches_then_points_then_all(
        self, make: Make, points: int, launches: int, others: int, kept: int
    ) -> None:
        """There is time for this many points of 4 ms and the starts that are needed anyway."""
        axes = {"pairs": "1:32"}
        whole = Block(["pairs"], [64], "8", axes=axes, launches=2, weight=0.5, whole=True)
        agenda = make(whole, self.LARGE, launches=2)
        starts = 4 if launches == 2 else 2 + launches
        thin(agenda, Budget(starts + points * 0.0040001, [1, 1]))
        assert agenda.thinned[0].launches == launches
        assert self.points_of(agenda, 0) == kept
        assert self.points_of(agenda, 1) == others
        if launches == 0:
            assert agenda.left_out()[0] == (
                "pairs: left out, because all of its points do not fit into the time"
            )

    def test_sizes_that_were_inserted_go_before_those_of_the_plan(self, make: Make) -> None:
        """Two launches of 24 sizes and of those between: 2 s to start them, 4 ms for a point."""
        state = RunState()
        coarse = [point.size_bytes for point in all_points(make(self.LARGE))]
        between = [size + 1 for size in coarse if size > 8]
        curve = AdaptiveCurve("s0", "pingpong", 2, "cores", "0:4M")
        state.sizes[curve] = sorted([*coarse, *between])
        agenda = make(self.LARGE, state=state, launches=2)
        counts, texts = [], []
        for points in (24 + len(between), 36, 30, 24, 23):
            agenda.thinned = [Thinning(2)]
            thin(agenda, Budget(2.0 + 2 * 0.0040001 * points))
            counts.append(self.points_of(agenda, 0))
            texts += agenda.left_out()
        assert counts == [24 + len(between), 24 + 10, 24 + 5, 24, 13]
        assert texts == [
            "pingpong: every second size between those of the plan",
            "pingpong: every fourth size between those of the plan",
            "pingpong: no sizes between those of the plan",
            "pingpong: every second size",
        ]
        while widen(agenda, Budget(60.0)):
            pass
        assert agenda.thinned == [Thinning(2)]

    def test_without_a_limit_sizes_go_and_every_launch_stays(self, make: Make) -> None:
        agenda = make(self.LARGE, subjects=2)
        thin(agenda, Budget(1e-6, is_given=False))
        assert agenda.left_out() == [], "some overtime is allowed"
        for _ in range(3):
            thin(agenda, Budget(-100.0, is_given=False))
        assert self.points_of(agenda, 0) == 2 * 7, "seven of a curve stay in any case"
        whole = Block(["pairs"], [64], "8", axes={"pairs": "1:32"}, whole=True)
        agenda = make(Block(["pingpong"], [2], "0:1999:1"), whole, subjects=2)
        thin(agenda, Budget(30.0, [1, 1], is_given=False))
        assert [thinning.launches for thinning in agenda.thinned] == [5, 5]
        assert agenda.thinned[0].sizes == 4
        assert self.points_of(agenda, 1) == 2 * 32

    def test_what_is_left_out_counts_as_unmeasured(self, make: Make) -> None:
        agenda = make(self.WIDE)
        thin(agenda, Budget(0.1))
        assert agenda.unmeasured() == {"pairs": (32, 32)}
        assert agenda.remaining_points().total() == 2, "the second launch goes last"

    def test_it_ends_even_where_nothing_can_fit(self, make: Make) -> None:
        agenda = make(self.LARGE, self.WIDE, subjects=3)
        budget = Budget(1e-6, [1, 1])
        thin(agenda, budget)
        assert budget.short_s() > 0
        assert SLICE_MIN_S > 0
        assert agenda.remaining_points().total() == 3 * (3 + 2), "the second launch goes last"

    def test_what_was_left_out_comes_back_where_there_is_time(self, make: Make) -> None:
        agenda = make(self.LARGE)
        points = self.points_of(agenda, 0)
        thin(agenda, Budget(0.1))
        few = self.points_of(agenda, 0)
        assert not widen(agenda, Budget(0.1))
        assert self.points_of(agenda, 0) == few < points
        while widen(agenda, Budget(60.0)):
            pass
        assert self.points_of(agenda, 0) == points
        assert agenda.left_out() == []
