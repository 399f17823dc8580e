"""Plans in their files, of today and of version 1."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nhalf.machines.layout import Layout
from nhalf.measure.plan import plan as module
from nhalf.measure.plan.plan import Block, Plan, read_plan
from nhalf.measure.plan.sizes import Sizes
from nhalf.sites.placement import Placement

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


def test_texts_of_a_block_are_parsed_once_and_stored_as_they_are(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    texts: list[str] = []
    parse = module.sizes_of

    def counted(text: str, ranks: int) -> Sizes:
        texts.append(text)
        return parse(text, ranks)

    monkeypatch.setattr(module, "sizes_of", counted)
    block = Block(["pingpong"], [2, 4], "0,8", placements=["cores", "2x1"])
    stored = msgspec.to_builtins(block)
    assert {block.sizes_on(2).size_bytes for _ in range(3)} == {(0, 8)}
    assert block.parsed_placements is block.parsed_placements
    assert block.parsed_placements == (Placement("cores"), Placement("2x1", Layout(2, 1)))
    assert texts == ["0,8"]
    assert msgspec.to_builtins(block) == stored
    assert msgspec.json.decode(msgspec.json.encode(block), type=Block) == block


def test_a_changed_block_has_its_own_values() -> None:
    block = Block(["pingpong"], [2], "8")
    assert block.sizes_on(2).size_bytes == (8,)
    assert [placement.text for placement in block.parsed_placements] == ["cores"]
    changed = msgspec.structs.replace(block, bytes="16", placements=["free"])
    assert changed.sizes_on(2).size_bytes == (16,)
    assert [placement.text for placement in changed.parsed_placements] == ["free"]
