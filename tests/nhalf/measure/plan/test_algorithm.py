"""Which algorithms a plan measures, and how a point's algorithm is written and read."""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest

from nhalf.base import native_files
from nhalf.base.errors import InputError
from nhalf.base.operations import OPERATIONS
from nhalf.measure.plan.algorithm import (
    axes_for,
    check_algorithms,
    check_each_has_one,
    joined,
    split,
    without_choice,
)
from nhalf.measure.probe.pattern import AlgorithmInfo, AxisInfo, PatternInfo
from nhalf.measure.probe.subject import plain_subject
from nhalf.models.expression import Part, parse
from tests.patience import patience_s
from tests.probes import is_built

AXES = (AxisInfo("place", "out", "out"), AxisInfo("algorithm", "native", "native"))
BCAST = PatternInfo(
    "bcast",
    axes=AXES,
    algorithms=(AlgorithmInfo("chain"), AlgorithmInfo("ring", present=False)),
)
BARRIER = PatternInfo("barrier", axes=AXES, algorithms=(AlgorithmInfo("central"),))
MULTICAST = PatternInfo("multicast", axes=(AxisInfo("algorithm", "u-torus", ""),))
PINGPONG = PatternInfo("pingpong")


@pytest.mark.parametrize(
    ("axes", "apart"),
    [
        ("", ("native", "")),
        ("place=in", ("native", "place=in")),
        ("algorithm=chain", ("chain", "")),
        ("algorithm=chain,place=in", ("chain", "place=in")),
        ("algorithm=chain,start=barrier", ("chain", "start=barrier")),
    ],
)
def test_the_algorithm_is_apart_and_comes_back(axes: str, apart: tuple[str, str]) -> None:
    assert split(BCAST, axes) == apart
    assert joined(*apart) == axes


def test_an_axis_of_the_same_name_stays_an_axis() -> None:
    text = "algorithm=u-torus,group=4"
    assert split(MULTICAST, text) == ("native", text)
    assert joined("native", text) == text
    given = {"algorithm": "u-torus,all"}
    assert axes_for(MULTICAST, given) == given
    assert without_choice(given, [MULTICAST]) == given
    check_algorithms(given, [MULTICAST])
    check_each_has_one(given, [MULTICAST])


@pytest.mark.parametrize(
    ("asked", "measured"),
    [
        ("all", "native,chain"),
        ("chain, native,chain", "chain,native"),
        ("central,chain", "chain"),
        ("central,all", "native,chain"),
        ("ring", None),
        ("central", None),
        ("", None),
    ],
)
def test_a_pattern_has_its_own_and_what_its_transport_can(asked: str, measured: str | None) -> None:
    given = {"place": "in", "algorithm": asked}
    found = axes_for(BCAST, given)
    assert found == (measured and {**given, "algorithm": measured})


def test_without_a_choice_nothing_changes() -> None:
    given = {"place": "in"}
    assert axes_for(BCAST, given) is given
    assert axes_for(PINGPONG, {"algorithm": "chain"}) == {"algorithm": "chain"}
    check_algorithms(given, [BCAST])
    check_each_has_one(given, [PINGPONG])


def test_names_are_those_of_some_pattern() -> None:
    infos = [BCAST, BARRIER, PINGPONG]
    check_algorithms({"algorithm": "all"}, infos)
    check_algorithms({"algorithm": "native,central,chain"}, infos)
    with pytest.raises(InputError, match=r"unknown algorithm of bcast, barrier 'chian'.*chain"):
        check_algorithms({"algorithm": "native,chian"}, infos)
    with pytest.raises(InputError, match="algorithm ring of bcast is absent: the transport lacks"):
        check_algorithms({"algorithm": "ring"}, [BCAST])


def test_no_pattern_that_was_named_goes_without() -> None:
    check_each_has_one({"algorithm": "central,chain"}, [BCAST, BARRIER, PINGPONG])
    with pytest.raises(InputError, match="barrier has no algorithm chain; it has native, central"):
        check_each_has_one({"algorithm": "chain"}, [BCAST, BARRIER])
    with pytest.raises(InputError, match="pingpong: no algorithms to choose from"):
        check_each_has_one({"algorithm": "all"}, [PINGPONG])


def test_blocks_of_a_study_without_the_axis_do_without() -> None:
    given = {"algorithm": "all", "pairs": "1"}
    assert without_choice(given, [PINGPONG]) == {"pairs": "1"}
    assert without_choice(given, [PINGPONG, BCAST]) == given


O_S, O_R, GAP, LATENCY, PER_BYTE = 1.5e-6, 2.5e-6, 6e-6, 5e-6, 1e-9
MACHINE = f"o_s={O_S},o_r={O_R},g={GAP},L={LATENCY},G={PER_BYTE}"
PARTS: dict[str, Part] = {
    "T": lambda x: O_S + x * PER_BYTE + LATENCY + O_R,
    "M": lambda x, q: q * np.maximum(O_S, GAP + x * PER_BYTE),
    "R": lambda x, q: q * np.maximum(O_R, GAP + x * PER_BYTE),
}
"""What patterns measure of this machine."""
BOUNDS = {
    *("binary", "binary-pipelined", "binomial-pipelined", "split-binary"),
    *("mcs-tree", "mcs-tree-bcast", "total-exchange-bcast", "tournament-tree"),
}
"""As they were published, or the longest path that there may be: up to twice the time."""
NEARLY = {"windowed": 0.2}
"""Receives that wait for one another are more than the longer of all sends and all receives."""
EXACT = 1e-9


def operations() -> dict[str, PatternInfo]:
    """The patterns that let choose an algorithm, as their probe describes them."""
    subject = plain_subject("model")
    return {name: info for name, info in subject.infos.items() if info.algorithms}


def times(ranks: int, points: list[tuple[str, str, int]]) -> list[float]:
    """Of patterns with algorithms and sizes, what the simulated machine takes, seconds."""
    lines = [
        f"id={at} pattern={name} bytes={size} samples_min=1 samples_max=1 axis.algorithm={chosen}"
        for at, (name, chosen, size) in enumerate(points)
    ]
    probe = [str(native_files.executable("probe-model")), "--ranks", str(ranks)]
    done = subprocess.run(
        [*probe, "--options", MACHINE],
        input="\n".join([*lines, "end", ""]),
        capture_output=True,
        text=True,
        timeout=patience_s(60),
        check=True,
    )
    records = [json.loads(line) for line in done.stdout.splitlines()[1:-1]]
    assert all(record["verified"] for record in records)
    return [record["samples_s"][0] for record in records]


@pytest.mark.skipif(not is_built("probe-model"), reason="the probes are not built")
class TestCosts:
    """Expressions in parts against what the simulated machine takes."""

    def test_all_are_stated_and_can_be_read(self) -> None:
        found = operations()
        assert set(found) == {*OPERATIONS, "work-barrier"} - {"alltoallv"}
        for info in found.values():
            for one in info.algorithms:
                assert one.what and one.source and one.present
                # What the library's own broadcast takes is not composed.
                assert bool(one.cost) != one.name.endswith("native-bcast")
                assert not one.cost or parse(one.cost).parts() <= set(PARTS)

    @pytest.mark.sampled(2)
    @pytest.mark.parametrize("ranks", [2, 4, 8, pytest.param(16, marks=pytest.mark.full)])
    def test_costs_of_a_logp_machine_are_its_times(self, ranks: int) -> None:
        points, costs = [], []
        for name, info in operations().items():
            for one in filter(lambda each: each.cost, info.algorithms):
                for size in [0] if name == "barrier" else [4096, 1 << 20]:
                    # The size of a reduce-scatter is that of all blocks.
                    n = size / ranks if name == "reduce-scatter" else size
                    points.append((name, one.name, size))
                    costs.append(float(parse(one.cost).value(ranks, n, PARTS)))
        exact = 0
        for point, cost_s, time_s in zip(points, costs, times(ranks, points), strict=True):
            if point[1] in BOUNDS:
                assert 1 - EXACT < cost_s / time_s < 2.3, point
            else:
                assert cost_s == pytest.approx(time_s, rel=NEARLY.get(point[1], EXACT)), point
                exact += point[1] not in NEARLY
        assert exact > 50
