"""What a plan can decide before it starts, and what it leaves out because it decides nothing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nhalf.measure.plan.plan import Block, Plan
from nhalf.studies.form import Conclusion, StudyForm
from nhalf.studies.needs import lack_of
from tests.nhalf.cli.model_machine import needs_probes

TREE = {"pattern": "bcast", "algorithm": "binomial", "ranks": 32, "bytes": 16}
LINEAR = {**TREE, "algorithm": "linear"}
SHORT = {"pattern": "pingpong", "bytes": 8}


def conclusion(value: dict[str, Any], over: dict[str, Any], **members: Any) -> Conclusion:
    content = {"id": "it", "claim": "It is.", "value": value, "over": over, "limit": 1, **members}
    return msgspec.convert(content, Conclusion)


def form(*conclusions: Conclusion) -> StudyForm:
    block = [{"patterns": ["pingpong", "bcast", "barrier", "am-short"], "ranks": "2:cores:x2"}]
    content: dict[str, Any] = {
        **{"title": "Is it?", "source": "by hand", "machines": [["sp2-mpl"]]},
        "measure": {"title": "All", "block": block},
    }
    return msgspec.structs.replace(msgspec.convert(content, StudyForm), conclusion=[*conclusions])


def plan(*ranks: int, patterns: tuple[str, ...] = ("pingpong", "bcast", "barrier")) -> Plan:
    usual = {"launches": 5, "budget_s": 60.0, "precision": 0.03, "options": "", "seed": 1}
    blocks = [Block([name], [*ranks], "8") for name in patterns]
    return Plan(["mpi", "tcp"], [], blocks, timeout_s=60.0, **usual)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("members", "ranks", "hosts", "lack"),
    [
        ({"value": SHORT, "over": SHORT | {"bytes": 16}}, (2,), False, ""),
        ({"value": TREE, "over": SHORT}, (2,), False, "ranks"),
        ({"value": TREE, "over": LINEAR, "ranks_least": 8}, (2, 4), False, "ranks"),
        ({"value": TREE, "over": LINEAR, "ranks_least": 8}, (2, 4, 8), False, ""),
        ({"value": TREE, "over": {**TREE, "ranks": 8}}, (2, 4, 8), False, "ranks"),
        ({"value": TREE, "over": {**TREE, "ranks": 8}}, (2, 4, 8, 16), False, ""),
        ({"value": {**SHORT, "placement": "off-node"}, "over": SHORT}, (2,), False, "nodes"),
        ({"value": {**SHORT, "placement": "off-node"}, "over": SHORT}, (2,), True, ""),
        ({"value": {**SHORT, "transport": "pvm"}, "over": SHORT}, (2,), False, "ranks"),
        ({"value": {"pattern": "put"}, "over": SHORT}, (2,), False, "way"),
        ({"value": SHORT, "over": TREE, "not_elsewhere": "It is."}, (2,), True, "machine"),
        ({"value": {**SHORT, "machine": "sp2-mpl"}, "over": SHORT}, (2,), False, ""),
    ],
)
def test_what_a_conclusion_lacks(
    members: dict[str, Any], ranks: tuple[int, ...], hosts: bool, lack: str
) -> None:
    asked = conclusion(**members)
    assert lack_of(asked, form(asked), plan(*ranks), hosts) == lack


@needs_probes
def test_a_way_that_only_simulators_have_is_not_here() -> None:
    torus, tree = (
        conclusion(
            {"pattern": "multicast", "axes": {"algorithm": name}},
            {"pattern": "multicast", "axes": {"algorithm": "separate", "group": "ranks-1"}},
        )
        for name in ("md-torus", "binomial")
    )
    ours = plan(2, patterns=("multicast",))
    lacks = [lack_of(each, form(each), ours, has_several_hosts=False) for each in (torus, tree)]
    assert lacks == ["way", ""]
