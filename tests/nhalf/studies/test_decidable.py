"""What a plan can decide before it starts, and what it leaves out because it decides nothing."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nhalf.measure.plan.plan import Block, Plan
from nhalf.studies import catalogue
from nhalf.studies.decidable import for_decisions, lack_of
from nhalf.studies.form import Conclusion, StudyForm
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


def test_patterns_that_decide_nothing_are_left_out_and_those_of_tables_stay() -> None:
    study = form(conclusion(SHORT, SHORT | {"bytes": 16}), conclusion(TREE, LINEAR, ranks_least=4))
    few, words = for_decisions(study, plan(2), has_several_hosts=False)
    assert few.patterns == ["pingpong", "barrier"]
    assert words == (
        "here 1 of 2 conclusions can be decided; --hosts, or a run with --machine, would decide "
        "up to 1 more. Left out, as they decide nothing here: bcast"
    )
    every, words = for_decisions(study, plan(2, 4), has_several_hosts=False)
    assert (every, words) == (plan(2, 4), "here 2 of 2 conclusions can be decided")


def test_where_nothing_can_be_decided_its_tables_are_measured() -> None:
    study = form(conclusion(TREE, LINEAR, ranks_least=4))
    every, words = for_decisions(study, plan(2), has_several_hosts=False)
    assert every == plan(2)
    assert words.startswith("here 0 of 1 conclusions can be decided")


def test_two_cores_decide_nothing_of_barriers_on_a_wire() -> None:
    study = catalogue.study("pentium-pro-barriers")
    _, words = for_decisions(study, plan(2), has_several_hosts=False)
    assert words.startswith(f"here 0 of {len(study.conclusion)} conclusions can be decided")
