"""Ranks on one node have the times measured there, spread ranks those between nodes."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.decide.predict import predict
from nhalf.decide.program.costs import MachineCosts
from nhalf.machines.catalogue import machine
from nhalf.machines.machine import FittedModel, Machine, PatternModel, Segment
from nhalf.machines.message import Messages
from nhalf.machines.spread import (
    OTHER_NODE,
    SAME_NODE,
    over_nodes,
    placed,
    spans_nodes,
    within_node,
)

NEAR_S, FAR_S = 1e-6, 50e-6
PLACES = {"1x2": NEAR_S, "2x1": FAR_S}


@pytest.mark.parametrize(
    ("placement", "expected"),
    [
        *((name, False) for name in ("1x8", "cores", "same-node", "1 x any")),
        *((name, True) for name in ("8x1", "2x4:cyclic", "other-node", "any x 2")),
        *((name, None) for name in ("", "somewhere")),
    ],
)
def test_placements_say_whether_they_span_nodes(placement: str, expected: bool | None) -> None:
    assert spans_nodes(placement) is expected


def curve(pattern: str, placement: str) -> FittedModel:
    segment = Segment(from_bytes=0, to_bytes=1 << 30, t0_s=PLACES[placement], r_inf_Bps=1e12)
    return FittedModel(
        transport="mpi", mpi="a", pattern=pattern, ranks=2, placement=placement,
        segments=(segment,),
    )  # fmt: skip


def measured(*patterns: str, places: tuple[str, ...] = ("1x2", "2x1")) -> Machine:
    models = [curve(pattern, place) for pattern in patterns for place in places]
    return Machine(name="measured", models=tuple(models))


@pytest.mark.parametrize("places", [("1x2", "2x1"), ("2x1", "1x2")])
def test_collective_operations_take_what_was_measured_there(places: tuple[str, ...]) -> None:
    known = measured("pingpong", "alltoall", places=places)
    for hosts, expected_s in ((("n1", "n1"), NEAR_S), (("n1", "n2"), FAR_S)):
        costs = MachineCosts(Messages(known), hosts)
        assert costs.collective_s("alltoall", [0, 1], 16) == pytest.approx(expected_s, rel=1e-4)
    assert predict("alltoall", known, [2], [8], {}).time_s[0, 0] == pytest.approx([FAR_S], rel=1e-4)


def test_what_was_measured_within_a_node_only_does_not_count_between() -> None:
    both = measured("pingpong").models
    known = Machine(
        name="m",
        models=(*both, curve("bcast", "1x2")),
        patterns=(PatternModel(pattern="scan", placement="cores", startup_s={"p": NEAR_S}),),
    )
    assert MachineCosts(Messages(known), ("n1", "n1")).collective_s("bcast", [0, 1], 8) < 2 * NEAR_S
    assert MachineCosts(Messages(known), ("n1", "n2")).collective_s("bcast", [0, 1], 8) > FAR_S / 2
    assert over_nodes(Messages(known)).machine.patterns == ()
    assert within_node(Messages(known)).machine.patterns == known.patterns


def test_a_machine_of_one_node_and_those_of_record_stay_as_they_are() -> None:
    alone = Messages(measured("pingpong", "bcast", places=("1x2",)))
    assert over_nodes(alone) is alone
    known = Messages(machine("sp2-mpl"))
    assert over_nodes(known) is known


def test_layouts_say_whether_ranks_share_a_node() -> None:
    altix = machine("altix-bx2")
    assert placed(altix, "8x1") == placed(altix, "2x1") == placed(altix, OTHER_NODE)
    assert placed(altix, "1x2") == placed(altix, SAME_NODE)
    with pytest.raises(InputError, match="one on each, and not 4x2"):
        placed(altix, "4x2")
    with pytest.raises(InputError, match="unknown placement 'somewhere'"):
        placed(altix, "somewhere")
