"""The grammar of axis values, and what a pattern's axes combine to."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from nhalf.base.errors import InputError
from nhalf.measure.plan.axes import check_axes, combinations, expand, parse_ranks
from nhalf.measure.probe.pattern import AxisInfo


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
