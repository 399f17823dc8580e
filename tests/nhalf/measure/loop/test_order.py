"""In which order the points of a launch are asked for."""

from __future__ import annotations

from pathlib import Path

from nhalf.measure.loop.launch import Order
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Block, Plan, Point, Start
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.subject import Subject

DESCRIPTION = {
    "options": [],
    "patterns": [
        {"name": "pingpong"},
        {"name": "finalize", "timing": "launch-end", "sized": False},
        {"name": "startup", "sized": False},
    ],
}


def test_what_ends_a_launch_comes_last_and_before_it_what_killed_one(tmp_path: Path) -> None:
    plan = Plan(
        transports=[], mpi=[], blocks=[Block(["pingpong", "finalize", "startup"], [2], "0,8,64")],
        launches=9, budget_s=0.0, precision=0.1, options="", seed=1, timeout_s=10.0,
    )  # fmt: skip
    subject = Subject("fake", ("fake",), DESCRIPTION)
    agenda = Agenda(plan, [subject], RunState(placement="cores"))
    start = Start("fake", 2, "cores")

    def ended(_: Start, point: Point) -> int:
        return int(point.size_bytes == 8)

    order = Order(agenda, 1, ended)
    found = [order.todo(start, launch) for launch in range(9)]
    assert {len(points) for points in found} == {5}
    assert {points[-1].pattern for points in found} == {"finalize"}
    assert {points[-2].size_bytes for points in found} == {8}
    assert len({tuple(points[:-2]) for points in found}) > 1
