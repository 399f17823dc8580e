# SPDX-License-Identifier: Apache-2.0
"""Plans in their files, of today and of version 1."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nhalf.measure.plan.plan import Block, Plan, read_plan

BLOCK = {"patterns": ["pingpong"], "ranks": [2], "bytes": "0:4M"}
CHOICES: dict[str, Any] = {
    "transports": ["mpi"], "mpi": ["mpich-5.0.2"], "launches": 5, "budget_s": 0.0,
    "precision": 0.01, "options": "", "seed": 1, "timeout_s": 60.0,
}  # fmt: skip


def test_a_plan_survives_its_file() -> None:
    further = Block(["bcast"], [2, 4], "8", axes={"start": "sync,barrier"}, weight=2.5, whole=True)
    plan = read_plan({**CHOICES, "blocks": [BLOCK]})
    plan = msgspec.structs.replace(plan, blocks=[*plan.blocks, further], study="mine.toml")
    assert msgspec.json.decode(msgspec.json.encode(plan), type=Plan) == plan
    assert read_plan(msgspec.to_builtins(plan)) == plan


def test_a_plan_of_version_1_is_one_block() -> None:
    old = {**CHOICES, **BLOCK, "placement": "free"}
    plan = read_plan(old)
    assert plan.blocks == [Block(["pingpong"], [2], "0:4M", placements=["free"])]
    assert "blocks" not in old


def test_a_block_takes_what_it_does_not_say_from_the_plan() -> None:
    plan = read_plan({**CHOICES, "blocks": [BLOCK, {**BLOCK, "launches": 2, "precision": 0.1}]})
    assert [plan.launches_of(block) for block in plan.blocks] == [5, 2]
    assert [plan.precision_of(block) for block in plan.blocks] == [0.01, 0.1]
    assert plan.patterns == ["pingpong"]


@pytest.mark.parametrize(
    "change",
    [
        {"unknown": 1},
        {"blocks": [{**BLOCK, "ranks": "2"}]},
        {"blocks": [{**BLOCK, "weight": 0}]},
        {"blocks": [{**BLOCK, "launches": -1}]},
        {"blocks": [{**BLOCK, "axes": {"pairs": 1}}]},
        {"launches": None},
    ],
)
def test_a_plan_of_another_form_is_not_read(change: dict[str, object]) -> None:
    with pytest.raises(msgspec.ValidationError):
        read_plan({**CHOICES, "blocks": [BLOCK], **change})
