"""Times that were published point by point are what is predicted there."""

from __future__ import annotations

import math

import msgspec
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.predict import Prediction, predict
from nhalf.decide.program.costs import MachineCosts
from nhalf.machines.algorithms import algorithms
from nhalf.machines.catalogue import machine
from nhalf.machines.message import Messages
from nhalf.machines.published_times import published_times
from nhalf.machines.spread import placed

TABLES = (
    ("sunfire-link", "same-node", {2: 1.21, 4: 1.80, 8: 1.80, 16: 3.10}),
    ("sunfire-link", "other-node", {4: 1156.05, 8: 1355.17, 16: 966.5, 32: 971.45, 64: 1785.6}),
    ("myrinet-gm", "other-node", {2: 9.84, 4: 19.12, 8: 29.50, 16: 52.44}),
    ("pentiumpro-ethernet", "", {3: 15230, 5: 30310, 9: 65320, 12: 80340, 16: 150460}),
)
"""By hand: barriers in microseconds by ranks (Qian 2004, Krishnamurthy 1998)."""


def own_s(found: Prediction) -> list[float]:
    names = [way.algorithm for way in found.ways]
    return [float(time_s) for time_s in found.time_s[names.index("native")].flat]


@pytest.mark.parametrize(("name", "placement", "times_us"), TABLES)
def test_published_barriers_are_predicted(
    name: str, placement: str, times_us: dict[int, float]
) -> None:
    of = placed(machine(name), placement)
    found = predict("barrier", of, list(times_us), [0], algorithms())
    assert own_s(found) == pytest.approx([time_us * 1e-6 for time_us in times_us.values()])
    assert "published of" in found.ways[0].source


def test_a_machine_of_one_node_takes_no_times_between_nodes() -> None:
    """Of 4 ranks 1.80 us on a node; the 1156.05 us of several nodes stay out."""
    whole = machine("sunfire-link")
    near = tuple(curve for curve in whole.models if curve.placement == "same-node")
    alone = msgspec.structs.replace(whole, models=near, network=None)
    found = predict("barrier", alone, [4], [0], algorithms())
    assert own_s(found) == pytest.approx([1.80e-6])


def test_algorithms_of_a_study_have_their_published_times() -> None:
    times = {times.algorithm: times for times in published_times(machine("pentiumpro-ethernet"),
                                                                 "barrier")}  # fmt: skip
    assert next(iter(times)) == "native"
    assert times["central"].at_s(9, 0) == pytest.approx(22.32e-3)
    assert times["tournament"].at_s(11, 0) is None
    found = predict("barrier/central", machine("pentiumpro-ethernet"), [9, 12], [0], algorithms())
    assert found.time_s[0, :, 0] == pytest.approx([22.32e-3, 2 * 11 * 1.2e-3])


def test_between_published_ranks_times_lie_on_a_line() -> None:
    (own,) = published_times(machine("sunfire-link"), "barrier", "same-node")
    assert own.between_s(4, 0) == pytest.approx(1.8e-6)
    share = math.log(12 / 8) / math.log(2)
    assert own.between_s(12, 0) == pytest.approx(1.8e-6 ** (1 - share) * 3.1e-6**share)
    for ranks in (1, 17):
        with pytest.raises(InputError, match="published of 2, 4, 8, 16 ranks"):
            own.between_s(ranks, 0)


@pytest.mark.parametrize(
    ("placement", "times_us"),
    [
        ("same-node", [2.8, 2.8, 2.8, 2.8, 2.9, 3.1]),
        ("other-node", [5, 4.9, 5, 5, 5.9, 6]),
        ("", [5, 4.9, 5, 5, 5.9, 6]),
    ],
)
def test_published_latencies_are_those_of_their_placement(
    placement: str, times_us: list[float]
) -> None:
    sizes = [2**power for power in range(6)]
    of = placed(machine("sunfire-link"), placement)
    found = predict("pingpong", of, [2], sizes, algorithms())
    assert own_s(found) == pytest.approx([time_us * 1e-6 for time_us in times_us])


def test_no_size_is_faster_than_a_smaller_published_one() -> None:
    sizes = [16, 32, 64, 128, 512, 1024, 2048, 4096, 1 << 20]
    for placement in ("same-node", "other-node"):
        of = placed(machine("sunfire-link"), placement)
        times_s = own_s(predict("pingpong", of, [2], sizes, algorithms()))
        assert times_s == sorted(times_s)
    # From 7 to 9 us were published of 1 KB within a node.
    within = placed(machine("sunfire-link"), "same-node")
    near = predict("pingpong", within, [2], [1024], algorithms())
    assert own_s(near) == pytest.approx([math.sqrt(7 * 9) * 1e-6])


def test_places_that_a_machine_has_no_messages_of_are_refused() -> None:
    with pytest.raises(InputError, match="unknown placement 'nowhere'"):
        placed(machine("sunfire-link"), "nowhere")
    with pytest.raises(InputError, match="no messages of other-node"):
        placed(machine("sunfire-15k"), "other-node")
    with pytest.raises(InputError, match="room for 24 ranks"):
        predict("bcast", placed(machine("sunfire-link"), "same-node"), [25], [8], algorithms())


def test_programs_have_composed_times_where_none_were_published() -> None:
    of = Messages(machine("sunfire-link"))
    costs = MachineCosts(of, [f"n{rank % 2}" for rank in range(96)])
    assert costs.collective_s("barrier", range(4), 0) == pytest.approx(1156.05e-6)
    assert 0 < costs.collective_s("barrier", range(96), 0) < 1e-3
