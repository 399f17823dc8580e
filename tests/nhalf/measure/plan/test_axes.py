"""The grammar of axis values, and what a pattern's axes combine to.

Which algorithms a plan measures, and how a point's algorithm is written and read.
"""

from __future__ import annotations

import json
import subprocess

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nhalf.base import native_files
from nhalf.base.errors import InputError
from nhalf.base.operations import OPERATIONS
from nhalf.measure.plan.axes import (
    axes_for,
    check_algorithms,
    check_axes,
    check_each_has_one,
    combinations,
    expand,
    joined,
    parse_ranks,
    split,
    without_choice,
)
from nhalf.measure.probe.pattern import AlgorithmInfo, AxisInfo, PatternInfo
from nhalf.measure.probe.subject import plain_subject
from nhalf.models.expression import Part, parse
from tests.patience import patience_s
from tests.probes import is_built


@pytest.mark.parametrize(
    ("text", "values"),
    [
        ("1,2,4", "1 2 4"),
        (" 4 , 2,4", "4 2"),
        ("sync,barrier", "sync barrier"),
        ("0.5,random-3", "0.5 random-3"),
        ("2:5", "2 3 4 5"),
        ("5:2", ""),
        ("-1:1", "-1 0 1"),
        ("1:20:x3", "1 3 9"),
        ("3:3:x2", "3"),
        ("0:4:x2", "1 2 4"),
        ("1:ranks/2:x2", "1 2 4"),
        ("ranks", "9"),
        ("1:ranks:x2,ranks", "1 2 4 8 9"),
        ("first+1:ranks-1", "7 8"),
        ("first", "6"),
        ("first*2", "12"),
        ("0:ranks-9,word", "0 word"),
        ("ranks:1", ""),
        ("1K", "1024"),
        ("1KiB,64k,2MB,512", "1024 65536 2097152 512"),
        ("1K,1024", "1024"),
        ("4K:64K:x4", "4096 16384 65536"),
        ("first:1K:x16", "6 96"),
    ],
)
def test_items_become_values_in_their_order(text: str, values: str) -> None:
    assert expand(text, {"ranks": 9, "first": "6"}) == values.split()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "is no value of an axis"),
        ("1,,2", "is no value of an axis"),
        ("1:", "is neither a number nor a name"),
        (":4", "is neither a number nor a name"),
        ("1:2:3", "is no range of values"),
        ("1:8:x1", "is no range of values"),
        ("1:8:x", "is no range of values"),
        ("1:8:x2:x2", "is no range of values"),
        ("a b", "is no value of an axis"),
        ("a=b", "is no value of an axis"),
        ("1:rnaks", "unknown axis 'rnaks'; did you mean ranks?"),
        ("frist+1", "unknown axis 'frist'; did you mean first?"),
        ("1:ranks/0", "divides by 0"),
        ("1:start", "axis start is 'sync' here, which is not a number"),
        ("1:10000000", "more than 100000 values"),
        ("1:8:x2.5", "is no range of values"),
        ("4Kb", "is a number of bits"),
        ("2T", "is too large"),
        ("1K:4Kb:x2", "is a number of bits"),
    ],
)
def test_a_text_that_cannot_be_read_is_one_clear_line(text: str, said: str) -> None:
    with pytest.raises(InputError, match=said.replace("?", "[?]")):
        expand(text, {"ranks": 9, "first": "6", "start": "sync"})


@given(st.text(alphabet="0123456789:,xrank+-*/ .", max_size=12))
@example("0:ranks:x2")
def test_any_text_is_values_or_an_error(text: str) -> None:
    try:
        values = expand(text, {"ranks": 4})
    except InputError:
        return
    assert len(set(values)) == len(values)


def axes(*texts: tuple[str, str, str]) -> list[AxisInfo]:
    return [AxisInfo(*text) for text in texts]


def test_a_later_axis_may_follow_from_an_earlier_one() -> None:
    distance = axes(("first", "0:ranks-2", ""), ("second", "first+1:ranks-1", ""))
    assert combinations(distance, {}, 3) == [
        "first=0,second=1",
        "first=0,second=2",
        "first=1,second=2",
    ]
    assert combinations(distance, {"first": "1"}, 4) == ["first=1,second=2", "first=1,second=3"]
    assert combinations(distance, {}, 1) == []


def test_an_axis_at_its_fallback_is_left_out() -> None:
    conditions = axes(("start", "sync", "sync"), ("work", "0,1", "0"))
    assert combinations(conditions, {}, 2) == ["", "work=1"]
    given = {"start": "sync,barrier", "work": "0"}
    assert combinations(conditions, given, 2) == ["", "start=barrier"]
    assert combinations(conditions, {"other": "5"}, 2) == ["", "work=1"]


def test_a_size_is_its_bytes_and_so_the_fallback_however_it_is_written() -> None:
    part = axes(("part", "8192", "8192"))
    assert combinations(part, {"part": "1K,8KiB,64k"}, 2) == ["part=1024", "", "part=65536"]


def test_without_axes_there_is_one_point() -> None:
    assert combinations([], {"pairs": "2"}, 2) == [""]


def test_the_first_axis_changes_slowest_whatever_their_names() -> None:
    two = axes(("b", "1,2", ""), ("a", "x,y", ""))
    assert combinations(two, {}, 2) == ["a=x,b=1", "a=y,b=1", "a=x,b=2", "a=y,b=2"]


def test_too_many_combinations_are_refused() -> None:
    many = axes(("a", "1:1000", ""), ("b", "1:1000", ""))
    with pytest.raises(InputError, match="combinations of axes"):
        combinations(many, {}, 2)


class TestChecks:
    PATTERNS = (axes(("pairs", "1", "")), axes(("first", "0", ""), ("second", "first", "")))

    def test_an_axis_of_one_of_the_patterns_will_do(self) -> None:
        check_axes({"pairs": "1:ranks", "second": "first+1"}, self.PATTERNS)

    @pytest.mark.parametrize(
        ("given", "said"),
        [
            ({"pair": "1"}, "unknown axis 'pair'; did you mean pairs"),
            ({"pairs": "1:first"}, "unknown axis 'first'"),
            ({"first": "second+1"}, "unknown axis 'second'"),
            ({"pairs": "1:"}, "neither a number"),
        ],
    )
    def test_others_are_one_clear_line(self, given: dict[str, str], said: str) -> None:
        with pytest.raises(InputError, match=said):
            check_axes(given, self.PATTERNS)


@pytest.mark.parametrize(
    ("text", "ranks"),
    [
        ("2", [2]),
        ("8,2,8", [2, 8]),
        ("2:cores:x2", [2, 4, 8]),
        ("cores*4", [48]),
        ("20:cores", []),
    ],
)
def test_ranks_may_be_those_of_the_machine(text: str, ranks: list[int]) -> None:
    assert parse_ranks(text, cores=12) == ranks


@pytest.mark.parametrize("text", ["two", "0", "-2", "99999999999", "", "2:kores"])
def test_other_ranks_are_one_clear_line(text: str) -> None:
    with pytest.raises(InputError):
        parse_ranks(text, cores=12)


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
