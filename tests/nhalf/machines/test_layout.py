"""Ranks over hosts."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.machines.layout import Layout, contrasting_layouts, even_share, parse_layout


def test_forms() -> None:
    assert parse_layout("4x2") == parse_layout("4x2:block") == Layout(4, 2)
    assert parse_layout("4x2:cyclic") == Layout(4, 2, cyclic=True)
    assert parse_layout("4x3+1") == parse_layout("4x3+1:block") == Layout(5, 3, missing=2)
    for other in ("", "cores", "4x", "x2", "4x2x1", "4x2:", "4x2:random", "-1x2", " 4x2", "4x2+"):
        assert parse_layout(other) is None


@pytest.mark.parametrize("text", ["4x2", "4x2:cyclic", "4x2+1", "1x4+3"])
def test_a_layout_says_how_it_is_typed(text: str) -> None:
    assert str(parse_layout(text)) == text


def test_a_square_number_of_ranks_on_even_nodes_and_one_more() -> None:
    layout = parse_layout("4x2+1")
    assert layout is not None
    assert (layout.hosts, layout.ranks) == (5, 9)
    assert layout.host_names("abcde", layout.ranks) == list("aabbccdde")


@pytest.mark.parametrize("text", ["4x2+0", "4x2+2", "4x1+1", "0x2+1", "4x2+1:cyclic", "4x0+1"])
def test_the_last_host_has_fewer(text: str) -> None:
    with pytest.raises(InputError, match="fewer ranks") as caught:
        parse_layout(text)
    assert "4x2+1" in (caught.value.remedy or "")


@pytest.mark.parametrize("text", ["0x1", "1x0", "0x0", "99999999x2"])
def test_no_machine_is_so(text: str) -> None:
    with pytest.raises(InputError, match="no machine"):
        parse_layout(text)


def test_blocks_and_turns() -> None:
    names = ["a", "b"]
    assert Layout(2, 2).host_names(names, 4) == ["a", "a", "b", "b"]
    assert Layout(2, 2, cyclic=True).host_names(names, 4) == ["a", "b", "a", "b"]
    assert Layout(2, 2).host_names(names, 3) == ["a", "a", "b"]
    assert Layout(2, 2, cyclic=True).host_names(names, 3) == ["a", "b", "a"]


@pytest.mark.parametrize(
    ("ranks", "hosts", "cores", "expected"),
    [
        (2, 4, 4, ["1x2", "2x1"]),
        (4, 4, 4, ["1x4", "4x1"]),
        (8, 4, 4, ["4x2"]),
        (6, 4, 8, ["1x6", "3x2"]),
        (7, 4, 4, ["1x7"]),
        (5, 8, 2, ["5x1"]),
        (1, 4, 4, ["1x1"]),
        (2, 1, 1, ["1x2"]),
    ],
)
def test_on_one_host_and_over_many(ranks: int, hosts: int, cores: int, expected: list[str]) -> None:
    assert contrasting_layouts(ranks, hosts, cores) == expected


@pytest.mark.parametrize(
    ("ranks", "cores", "hosts"),
    [
        (0, 2, 0),
        (1, 2, 1),
        (2, 2, 1),
        (3, 2, 3),
        (4, 1, 4),
        (6, 4, 2),
        (9, 4, 3),
        (10**9 + 7, 8, 10**9 + 7),
    ],
)
def test_hosts_share_ranks_evenly(ranks: int, cores: int, hosts: int) -> None:
    assert even_share(ranks, cores) == hosts
