"""Plans against what probes know: an error for a user's own choice, a remark for a study's."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.plan.resolve import absent, check_blocks, resolve
from nhalf.measure.probe.subject import Subject

PAIRS = {"name": "pairs", "values": "1", "fallback": "", "what": ""}
SUBJECTS = [
    Subject("a", (), {"patterns": [
        {"name": "pingpong", "present": True},
        {"name": "pairs", "present": True, "axes": [PAIRS]},
        {"name": "crowd", "present": True, "ranks_min": 4},
        {"name": "bcast", "present": False, "needs": "collectives"},
        {"name": "put", "present": False, "needs": "one-sided"},
    ]}),
    Subject("b", (), {"patterns": [{"name": "bcast", "present": True}]}),
]  # fmt: skip


def plan_of(*blocks: Block, study: str = "") -> Plan:
    choices: dict[str, Any] = {
        "transports": [], "mpi": [], "launches": 5, "budget_s": 0.0, "precision": 0.01,
        "options": "", "seed": 1, "timeout_s": 60.0,
    }  # fmt: skip
    return Plan(blocks=list(blocks), study=study, **choices)


def test_all_are_those_that_some_subject_can_run() -> None:
    plan = resolve(plan_of(Block(["all"], [2], "8")), SUBJECTS)
    assert plan.patterns == ["bcast", "crowd", "pairs", "pingpong"]
    assert absent(plan, SUBJECTS) == ["crowd is not measured with 2: it needs 4 ranks or more"]


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (Block(["pingpnog"], [2], "8"), "unknown pattern 'pingpnog'; did you mean pingpong"),
        (Block(["put"], [2], "8"), "pattern put is absent: the transport lacks one-sided"),
        (Block(["crowd"], [2, 4], "8"), "crowd needs 4 ranks or more; give --ranks 4"),
        (Block(["pingpong"], [2], "8", axes={"pairs": "1"}), "unknown axis 'pairs'"),
        (Block(["pairs"], [2], "8", axes={"pair": "1"}), "unknown axis 'pair'; did you mean pairs"),
    ],
)
def test_what_a_user_chose_must_be_possible(block: Block, said: str) -> None:
    with pytest.raises(InputError) as caught:
        resolve(plan_of(block), SUBJECTS)
    assert said in str(caught.value)


def test_a_study_goes_without_what_is_absent_and_says_so() -> None:
    blocks = [
        Block(["pingpong", "put", "later"], [2], "8", axes={"perhaps": "1"}),
        Block(["crowd", "bcast"], [2, 8], "8"),
        Block(["crowd"], [], "8"),
    ]
    plan = resolve(plan_of(*blocks, study="mine"), SUBJECTS)
    assert plan.blocks == blocks, "kept, so that a resumed run says the same"
    assert absent(plan, SUBJECTS) == [
        "put is absent: needs one-sided",
        "later is absent: these probes do not know it",
        "crowd is not measured with 2: it needs 4 ranks or more",
        "a part of crowd is left out: it is for machines of more cores",
    ]


def test_a_study_of_which_nothing_is_left_is_an_error() -> None:
    with pytest.raises(MissingError, match="put is absent: needs one-sided"):
        resolve(plan_of(Block(["put"], [2], "8"), study="mine"), SUBJECTS)


def test_an_axis_that_no_pattern_of_a_study_has_is_an_error() -> None:
    with pytest.raises(InputError, match="unknown axis 'pair'"):
        resolve(plan_of(Block(["pairs"], [2], "8", axes={"pair": "1"}), study="mine"), SUBJECTS)


@pytest.mark.parametrize(
    ("block", "said"),
    [
        (Block(["x"], [2], "1T"), "do not fit the memory"),
        (Block(["x"], [2], "8:4"), "write 4:8"),
        (Block(["x"], [2], "8", placements=["core"]), "did you mean cores"),
    ],
)
def test_sizes_and_placements_are_checked_before_any_probe_is_asked(
    block: Block, said: str
) -> None:
    with pytest.raises(InputError, match=said):
        check_blocks(plan_of(Block(["x"], [2], "8"), block))
