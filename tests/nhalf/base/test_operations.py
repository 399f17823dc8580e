"""The table of collective operations says what the C++ side's says."""

from __future__ import annotations

import re
from pathlib import Path

from nhalf.base.operations import BY_NAME, CALLS, COLLECTIVES, OPERATIONS, PER_RANK

ROWS = re.compile(r"NHALF_OPERATION\((\w+), (\w+), (\w+), (\w+), (\w+),")
NATIVE_CALLS = Path(__file__).parents[3] / "native/calls"


def test_both_sides_say_the_same_of_an_operation() -> None:
    rows = [row for path in NATIVE_CALLS.glob("*.inc") for row in ROWS.findall(path.read_text())]
    native = {name: (flow, data, sizes) for _, name, flow, data, sizes in rows}
    assert native == {
        name: (row.flow, row.data, "varying" if row.is_varying else "equal")
        for name, row in BY_NAME.items()
    }
    assert all(call.lower() == name for call, name, *_ in rows)


def test_patterns_are_named_once_and_what_stands_for_another_is_one() -> None:
    assert len(set(COLLECTIVES)) == len(COLLECTIVES)
    assert {row.like for row in BY_NAME.values()} - {""} <= {*OPERATIONS}
    assert {*PER_RANK} == {"allgather", "alltoall", "gather", "scatter"}
    assert CALLS == {"reduce-scatter": "reduce_scatter_block"}
