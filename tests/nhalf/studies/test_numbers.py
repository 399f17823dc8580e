"""Numbers of studies: by place, by axes, beside the time, and of several points together."""

from __future__ import annotations

from typing import Any

import msgspec
import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.facts.facts import Facts
from nhalf.statistics.summary import VIRTUAL, VIRTUAL_NOISE
from nhalf.studies import node_figures
from nhalf.studies.form import Quantity, apart
from nhalf.studies.measured import Measured
from nhalf.studies.node_figures import NodeFigure
from nhalf.studies.published.numbers import published
from nhalf.studies.recorded import RecordedMachine
from nhalf.studies.value import StudyValue
from tests.nhalf.facts.test_soak import CALLS, PARTS, series
from tests.nhalf.synthetic import build_logp, build_measurements, build_traffic


def quantity(**members: Any) -> Quantity:
    return msgspec.convert(members, Quantity)


def points(*rows: dict[str, Any], **usual: Any) -> Measured:
    usual = {"sizes": (8,), "launch_noise": 0.0, "noise": 0.0, "launches": 3, **usual}
    frames = [build_measurements(**{**usual, **row}) for row in rows]
    return Measured("run", Facts(pl.concat(frames)))


class TestOfARun:
    def test_messages_within_a_node_and_between_nodes(self) -> None:
        source = points(
            {"placement": "same-node", "samples_s": [1e-6] * 3},
            {"placement": "other-node", "samples_s": [4e-6] * 3},
            patterns=("pingpong",),
        )
        times = [
            source.value(quantity(pattern="pingpong", bytes=8, placement=place)).median
            for place in ("on-node", "off-node", "")
        ]
        assert times == pytest.approx([1e-6, 4e-6, 1e-6])

    def test_a_place_that_was_not_measured(self) -> None:
        source = points({"placement": "same-node"}, patterns=("pingpong",))
        with pytest.raises(InputError, match="pingpong was not measured off-node"):
            source.value(quantity(pattern="pingpong", bytes=8, placement="off-node"))

    def test_points_with_the_axes_asked_for(self) -> None:
        source = points(
            *(
                {"axes": f"pairs={pairs}", "samples_s": [pairs * 1e-6] * 3, "ranks": 8}
                for pairs in (1, 2, 4)
            ),
            patterns=("pairs-latency",),
        )

        def time_s(**axes: str | int) -> float:
            return source.value(
                quantity(pattern="pairs-latency", bytes=8, ranks=64, axes=axes)
            ).median

        assert time_s(pairs="ranks/2") == pytest.approx(4e-6)
        assert time_s(pairs=2) == pytest.approx(2e-6)
        assert time_s() == pytest.approx(1e-6)
        with pytest.raises(InputError, match="pairs=3"):
            time_s(pairs=3)
        with pytest.raises(InputError, match="axis 'nodes'"):
            time_s(pairs="nodes/2")

    def test_a_point_with_an_axis_that_only_its_neighbour_names_is_the_neighbours(self) -> None:
        """In blocks of one is not in any blocks, though nothing else was measured."""
        usual = {"pattern": "array-triad", "bytes": 8}
        plain = quantity(**usual, axes={"access": "pointer"})
        ones = quantity(**usual, axes={"access": "pointer", "block": 1})
        short = {"axes": "access=pointer,block=1", "samples_s": [2e-6] * 3}
        source = points(short, patterns=("array-triad",))
        assert source.value(plain).median == pytest.approx(2e-6)
        told_apart, of_ones = apart([plain, ones])
        assert source.value(of_ones).median == pytest.approx(2e-6)
        with pytest.raises(InputError, match="access=pointer"):
            source.value(told_apart)
        both = points(
            short, {"axes": "access=pointer", "samples_s": [1e-6] * 3}, patterns=("array-triad",)
        )
        assert both.value(told_apart).median == pytest.approx(1e-6)
        elsewhere = quantity(pattern="put", bytes=8)
        assert apart([elsewhere, ones])[0] == elsewhere

    @pytest.mark.parametrize(
        ("row", "origin"),
        [
            ({}, "measured"),
            ({"transport": "model"}, "simulated"),
            ({"advice": [VIRTUAL]}, "virtual"),
            ({"advice": [VIRTUAL_NOISE]}, "virtual"),
        ],
    )
    def test_where_a_number_of_a_run_comes_from(self, row: dict[str, Any], origin: str) -> None:
        source = points(row, patterns=("pingpong",))
        assert source.value(quantity(pattern="pingpong", bytes=8)).origin == origin

    def test_a_model_of_one_size_tells_no_start(self) -> None:
        source = points({}, patterns=("pingpong",), sizes=(1 << 20,))
        for figure in ("t0", "n-half"):
            with pytest.raises(InputError, match=r"do not tell|too few sizes"):
                source.value(quantity(pattern="pingpong", bytes="1M", figure=figure))

    def test_a_result_beside_the_time(self) -> None:
        source = points(
            *(
                {"values": [{"name": "root_s", "value": (1 + k) * 1e-6}], "launches": (k,)}
                for k in range(3)
            ),
            patterns=("one-to-many",),
        )
        value = source.value(quantity(pattern="one-to-many", bytes=8, extra="root_s"))
        assert 1.8e-6 < value.median < 2e-6  # their pseudomedian
        assert value.ci is not None
        assert value.ci[0] < 1e-6 < value.ci[1]
        with pytest.raises(InputError, match="has no host_cpu_s"):
            source.value(quantity(pattern="one-to-many", bytes=8, extra="host_cpu_s"))

    def test_how_long_the_root_is_busy_is_the_time_of_rank_0(self) -> None:
        source = points({"rank_s": [3e-6, 9e-6], "samples_s": [9e-6] * 3}, patterns=("bcast",))
        value = source.value(quantity(pattern="bcast", bytes=8, extra="root_s"))
        assert value.median == pytest.approx(3e-6)
        assert value.ci == pytest.approx((3e-6, 3e-6))

    def test_one_launch_has_no_interval(self) -> None:
        source = points({"rank_s": [3e-6]}, patterns=("bcast",), launches=1)
        assert source.value(quantity(pattern="bcast", bytes=8, extra="root_s")).ci is None

    def test_throughput_counts_all_that_moves(self) -> None:
        source = points({"samples_s": [1e-6] * 3, "bytes_per_time": 16}, patterns=("exchange",))
        both, alone = (
            source.value(quantity(pattern="exchange", bytes=8, figure=figure)).median
            for figure in ("throughput", "rate")
        )
        assert (both, alone) == pytest.approx((16e6, 8e6))

    def test_parameters_of_logp(self) -> None:
        source = Measured("run", Facts(build_logp()))
        names = ("L", "o_s", "o_r", "o", "half-round-trip", "busy-share")
        values = [source.value(quantity(pattern="logp", figure=name)).median for name in names]
        assert values == pytest.approx([5e-6, 1e-6, 2e-6, 1.5e-6, 8e-6, 3 / 8], rel=1e-3)
        with pytest.raises(InputError, match="logp has no time"):
            source.value(quantity(pattern="logp"))

    def test_accepted_traffic_and_its_part_between_nodes(self) -> None:
        facts = Facts(build_traffic(to="complement", on_node_share=0.25, saturated_Bps=8e9))
        source, size = Measured("run", facts), int(facts.summary["bytes"][0])
        asked = {"pattern": "traffic", "figure": "rate", "bytes": size, "ranks": 64}
        rates = [
            source.value(quantity(**asked, axes={"to": "complement"}, placement=place)).median
            for place in ("", "on-node", "off-node")
        ]
        assert rates == pytest.approx([8e9, 2e9, 6e9])
        with pytest.raises(InputError, match="traffic, to=transpose was not measured"):
            source.value(quantity(**asked, axes={"to": "transpose"}))

    def test_how_far_a_long_series_came_and_whether_calls_took_longer(self) -> None:
        facts = series(build_measurements, time_s=lambda calls: 1e-6 * (1 + calls * 1e-5))
        source = Measured("run", facts)
        asked = {"pattern": "soak", "ranks": 16, "axes": {"of": "barrier"}}
        calls = source.value(quantity(**asked, extra="calls"))
        assert (calls.median, calls.ci) == (PARTS * CALLS, (PARTS * CALLS, PARTS * CALLS))
        growth = source.value(quantity(**asked, extra="time_growth"))
        assert growth.median == pytest.approx(1.16, abs=0.01)
        assert all(type(end) is float for end in (growth.median, *growth.ends))
        with pytest.raises(InputError, match="no long series of bcast"):
            source.value(quantity(pattern="soak", axes={"of": "bcast"}, extra="calls"))

    def test_the_rate_of_traffic_has_its_launches(self) -> None:
        facts = Facts(build_traffic(to="complement", on_node_share=0.25, saturated_Bps=8e9))
        size = int(facts.summary["bytes"][0])
        asked = {"pattern": "traffic", "figure": "rate", "bytes": size, "ranks": 64}
        value = Measured("run", facts).value(quantity(**asked, axes={"to": "complement"}))
        launches = facts.launches["launch"].unique().to_list()
        assert sorted(launch for _, launch in value.per_launch) == sorted(launches)
        assert list(value.per_launch.values()) == pytest.approx([8e9] * len(launches))

    def test_without_a_transport_it_is_one_that_has_the_pattern(self) -> None:
        source = points(
            {"patterns": ("pingpong",), "transport": "mpi", "samples_s": [1e-6] * 3},
            {"patterns": ("put",), "transport": "shm", "samples_s": [2e-6] * 3},
        )
        assert source.value(quantity(pattern="put", bytes=8)).median == pytest.approx(2e-6)


class TestOfARecord:
    @pytest.mark.parametrize(
        ("members", "number"),
        [
            ({"pattern": "pingpong", "bytes": 8, "placement": "on-node"}, 2.8e-6),
            ({"pattern": "pingpong", "bytes": 32, "placement": "off-node"}, 6e-6),
            ({"pattern": "put", "bytes": 8}, 35e-6),
            ({"pattern": "put", "bytes": 64}, 0.6e-6),
            ({"pattern": "primitive", "bytes": "16K", "axes": {"step": "put"}}, 27.73e-6),
            ({"pattern": "primitive", "bytes": 0, "axes": {"step": "connect"}}, 173.45e-6),
            ({"pattern": "barrier", "ranks": 16, "placement": "on-node"}, 3.1e-6),
            ({"pattern": "barrier", "ranks": 16, "placement": "off-node"}, 966.5e-6),
            ({"pattern": "logp", "figure": "o_s"}, 3e-6),
            ({"pattern": "logp", "figure": "L"}, 0.51e-6),
            ({"pattern": "logp", "figure": "busy-share"}, 1.0),
            (
                {
                    **{"pattern": "traffic", "figure": "rate", "bytes": 10240, "ranks": 32},
                    **{"axes": {"to": "transpose"}, "placement": "off-node"},
                },
                2400e6,
            ),
        ],
    )
    def test_published(self, members: dict[str, Any], number: float) -> None:
        value = published(RecordedMachine("sunfire-link"), quantity(**members))
        assert value is not None
        assert (value.median, value.origin) == (pytest.approx(number), "published")

    @pytest.mark.parametrize(
        "members",
        [
            {"pattern": "put", "bytes": 1024},
            {"pattern": "put", "bytes": 64, "placement": "on-node"},
            {"pattern": "put", "bytes": 64, "predicted": True},
            {"pattern": "primitive", "axes": {"step": "fence"}},
            {"pattern": "traffic", "figure": "rate", "ranks": 32, "axes": {"to": "nowhere"}},
            {"pattern": "logp", "figure": "G"},
            {"pattern": "bcast", "extra": "root_s", "ranks": 8},
        ],
    )
    def test_what_is_not_published(self, members: dict[str, Any]) -> None:
        assert published(RecordedMachine("sunfire-link"), quantity(**members)) is None

    def test_predictions(self) -> None:
        source = RecordedMachine("sunfire-link")
        table_s = source.value(quantity(pattern="logp", figure="half-round-trip")).median
        assert table_s == pytest.approx(0.51e-6 + 2 * 2.5e-6)
        message = {"pattern": "pingpong", "bytes": 0}
        times = [source.value(quantity(**message, placement=p)).median for p in ("on-node", "")]
        assert times == pytest.approx([2.8e-6, 2.8e-6])
        traffic = {"pattern": "traffic", "figure": "rate", "bytes": 10240, "ranks": 32}
        value = source.value(quantity(**traffic, axes={"to": "complement"}, placement="off-node"))
        assert value.origin == "predicted"
        assert value.median == pytest.approx(3128e6, rel=0.05)
        with pytest.raises(InputError, match="none of complement traffic is on-node"):
            source.value(quantity(**traffic, axes={"to": "complement"}, placement="on-node"))

    def test_traffic_with_common_draws_is_divided_draw_by_draw(self) -> None:
        source = RecordedMachine("sunfire-link")
        traffic = {"pattern": "traffic", "figure": "rate", "bytes": 10240, "ranks": 32}
        cube, complement = (
            source.value(quantity(**traffic, axes={"to": to}, placement="off-node"))
            for to in ("cube", "complement")
        )
        assert cube.over(complement).ci == pytest.approx((1, 1))
        uniform = source.value(quantity(**traffic, axes={"to": "uniform"}, placement="off-node"))
        assert uniform.over(complement).median == pytest.approx(0.6, rel=0.05)

    def test_the_root_of_a_broadcast_is_busy_with_its_sends(self) -> None:
        source = RecordedMachine("sunfire-link")  # o_s 3 us, g 2.29 us
        busy = {"pattern": "bcast", "ranks": 16, "bytes": 64, "extra": "root_s"}
        times = [
            source.value(quantity(**busy, algorithm=name)).median
            for name in ("linear", "binomial", "binary")
        ]
        assert times == pytest.approx([15 * 3e-6, 4 * 3e-6, 2 * 3e-6])
        with pytest.raises(InputError, match="root_s of bcast is not predicted"):
            source.value(quantity(**busy, algorithm="chain"))

    def test_a_root_has_neither_a_start_nor_a_rate(self) -> None:
        """Of the SPP-1000 from 64 KB on the time is n / r - c sqrt n."""
        source = RecordedMachine("spp1000-pvm")
        for figure in ("t0", "r-inf", "n-half"):
            with pytest.raises(InputError, match=f"do not tell {figure}"):
                source.value(quantity(pattern="pingpong", bytes="1M", figure=figure))

    def test_a_prediction_leaves_out_what_was_published(self) -> None:
        source = RecordedMachine("pentiumpro-ethernet")
        asked = {"pattern": "barrier", "algorithm": "tournament", "ranks": 9}
        stated, told = (source.value(quantity(**asked, predicted=p)).median for p in (False, True))
        assert (stated, told) == pytest.approx((11.35e-3, 9 * 1.2e-3))

    def test_laws_of_traffic_are_not_predicted(self) -> None:
        source = RecordedMachine("sunfire-link")
        asked = quantity(
            pattern="traffic", figure="rate", bytes=10240, ranks=16, axes={"size_law": "uniform"}
        )
        assert published(source, asked) is None
        with pytest.raises(InputError, match="size_law"):
            source.value(asked)

    def test_a_place_without_messages(self) -> None:
        with pytest.raises(InputError, match="no messages off-node are published"):
            RecordedMachine("sunfire-15k").value(quantity(pattern="pingpong", placement="off-node"))

    def test_a_barrier_within_a_node_is_made_of_its_messages(self) -> None:
        source = RecordedMachine("sunfire-link")
        made = {"pattern": "barrier", "ranks": 2, "algorithm": "dissemination"}
        here, away = (
            source.value(quantity(**made, placement=place)).median
            for place in ("on-node", "off-node")
        )
        assert here < away


def test_a_number_of_the_node(monkeypatch: pytest.MonkeyPatch) -> None:
    figure = NodeFigure("bytes", lambda _: StudyValue(1.0), lambda _: StudyValue(2.0))
    monkeypatch.setitem(node_figures.NODE_FIGURES, "line", figure)
    of_node = quantity(node="line")
    assert of_node.unit == "bytes"
    assert points({}, patterns=("pingpong",)).value(of_node).median == 1.0
    assert RecordedMachine("sp2-mpl").value(of_node).median == 2.0
    assert published(RecordedMachine("sp2-mpl"), of_node) is None


@pytest.mark.parametrize(
    ("members", "words"),
    [
        ({}, "either a pattern or a node"),
        ({"node": "nothing"}, "unknown number of a node 'nothing'"),
        ({"pattern": "pingpong", "placement": "same-planet"}, "same-planet"),
        ({"pattern": "pingpong", "figure": "tim"}, "tim"),
    ],
)
def test_numbers_of_no_form(members: dict[str, Any], words: str) -> None:
    with pytest.raises(msgspec.ValidationError, match=words):
        quantity(**members)


def test_the_unit_of_a_further_result_is_in_its_name() -> None:
    units = {"root_s": "s", "accepted_Bps": "Bps", "part_bytes": "bytes", "on_node_share": "share"}
    for name, unit in units.items():
        assert quantity(pattern="bcast", extra=name).unit == unit
