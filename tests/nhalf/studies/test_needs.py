"""The points that conclusions need, what a plan leaves out, and the ranks of a virtual machine."""

from __future__ import annotations

from typing import Any

import msgspec
import pytest

from nhalf.measure.plan.plan import Block
from nhalf.measure.plan.planning import plan_of
from nhalf.measure.plan.request import PlanRequest
from nhalf.sites.hosts import Host
from nhalf.sites.site import Site
from nhalf.studies import catalogue
from nhalf.studies.form import StudyForm
from nhalf.studies.needs import merged, needed_by, needs_of, with_ranks_asked
from tests.nhalf.studies.test_decidable import LINEAR, SHORT, TREE, conclusion, form, plan

TWO_CORES = Site((Host("here", 2),), "", "two cores")
NODES = Site(tuple(Host(f"node-{number}", 4) for number in range(8)), "", "eight nodes")


def points(*blocks: Block) -> list[tuple[Any, ...]]:
    return [(*b.patterns, *b.ranks, b.bytes, *b.placements, *b.axes.values()) for b in blocks]


def test_a_plan_has_the_points_of_what_can_be_decided_and_no_others() -> None:
    study = form(
        conclusion(SHORT, SHORT | {"bytes": "1K"}), conclusion(TREE, LINEAR, ranks_least=4)
    )
    needs = needs_of(study, plan(2), has_several_hosts=False)
    assert points(*needs.reduced(plan(2)).blocks) == [("pingpong", 2, "8,1024", "cores")]
    assert needs.words == (
        "here 1 of 2 conclusions can be decided; --hosts, or --machine, would decide up to 1 more. "
        "Left out, as they decide nothing here: bcast, barrier"
    )


def test_numbers_take_the_most_ranks_up_to_theirs_and_their_algorithm() -> None:
    study = form(conclusion({**TREE, "ranks": 8}, {**LINEAR, "ranks": 8}))
    needs = needs_of(study, plan(2, 4, 16), has_several_hosts=False)
    assert points(*needs.reduced(plan(2, 4, 16)).blocks) == [
        ("bcast", 4, "16", "cores", "binomial"),
        ("bcast", 4, "16", "cores", "linear"),
    ]


def test_a_parameter_of_messages_takes_all_sizes() -> None:
    asked = conclusion({**SHORT, "figure": "t0"}, SHORT)
    curve = msgspec.structs.replace(plan(2), blocks=[Block(["pingpong"], [2], "0:1M")])
    assert [block.bytes for block in needed_by(asked, curve)] == ["0:1M", "8"]


def test_tables_are_measured_as_well() -> None:
    column = [{"title": "Barrier", "value": {"pattern": "barrier", "ranks": 4}}]
    table = msgspec.convert([{"id": "t", "title": "T", "column": column}], list[Any])
    content = msgspec.to_builtins(form(conclusion(SHORT, SHORT | {"bytes": 16}))) | {"table": table}
    study = msgspec.convert(content, StudyForm)
    needs = needs_of(study, plan(2, 4), has_several_hosts=False)
    assert points(*needs.reduced(plan(2, 4)).blocks) == [
        ("pingpong", 2, "8,16", "cores"),
        ("barrier", 4, "0", "cores"),
    ]


def test_where_nothing_can_be_decided_all_is_measured() -> None:
    study = form(conclusion(TREE, LINEAR, ranks_least=4))
    needs = needs_of(study, plan(2), has_several_hosts=False)
    assert needs.reduced(plan(2)) == plan(2)
    assert needs.words.startswith("here 0 of 1 conclusions can be decided; --hosts")
    virtual = needs_of(study, plan(2), has_several_hosts=True, virtual_machine="sp2-mpl")
    assert virtual.words == "in virtual time on sp2-mpl 0 of 1 conclusions can be decided"


def test_two_cores_decide_nothing_of_barriers_on_a_wire_but_of_long_series_and_grids() -> None:
    study = catalogue.study("pentium-pro-barriers")
    needs = needs_of(study, plan(2), has_several_hosts=False)
    assert needs.words.startswith(f"here 0 of {len(study.conclusion)} conclusions can be decided")
    own = plan_of(PlanRequest(study=str(catalogue.path_of("pentium-pro-barriers"))), TWO_CORES)
    needs = needs_of(study, own, has_several_hosts=False)
    assert set(needs.by_conclusion) == {"library-breaks", "calls-take-longer", "grids-wait"}
    (series,) = needs.by_conclusion["library-breaks"]
    assert series.axes == {"of": "barrier", "calls": "20000", "part": "1:50"}
    assert series.launches == 1
    grids = {block.axes["barriers"] for block in needs.by_conclusion["grids-wait"]}
    assert grids == {"grids", "none,grids"}


def test_virtual_time_is_not_spent_on_what_it_cannot_tell() -> None:
    study = catalogue.study("pentium-pro-barriers")
    own = plan_of(PlanRequest(study=str(catalogue.path_of("pentium-pro-barriers"))), TWO_CORES)
    assert ["soak"] in [block.patterns for block in own.blocks]
    virtual = with_ranks_asked(study, own, NODES)
    assert ["soak"] not in [block.patterns for block in virtual.blocks]
    (grids,) = [block for block in virtual.blocks if block.patterns == ["npb-mg"]]
    assert grids.ranks == [16]


@pytest.mark.parametrize(
    ("number", "places"),
    [
        (SHORT, ["1x2"]),
        ({**SHORT, "placement": "off-node"}, ["2x1"]),
        (TREE, ["8x4"]),
        ({**TREE, "ranks": 4, "placement": "on-node"}, ["1x4"]),
        ({**TREE, "ranks": 1024}, ["8x4"]),
        ({**TREE, "placement": "on-node"}, []),
    ],
)
def test_a_virtual_machine_has_the_ranks_and_the_places_of_numbers(
    number: dict[str, Any], places: list[str]
) -> None:
    asked = conclusion(number, {**SHORT, "machine": "sp2-mpl"})
    virtual = with_ranks_asked(form(asked), plan(2), NODES)
    assert [place for block in needed_by(asked, virtual) for place in block.placements] == places


def test_blocks_that_differ_in_their_sizes_are_one() -> None:
    blocks = [Block(["put"], [2], size) for size in ("8", "64", "0:1M", "8")]
    assert [block.bytes for block in merged(blocks)] == ["8,64", "0:1M"]
