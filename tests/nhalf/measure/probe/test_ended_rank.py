"""The rank that ended first, from what launchers and other ranks say."""

from __future__ import annotations

import pytest

from nhalf.measure.probe.ended_rank import ended_rank, own_words

PLACEMENT = [{"rank": rank, "host": "n1", "pid": 4710 + rank} for rank in range(3)]
NAMED = "rank 1 (process 4711) ended before the others"


@pytest.mark.parametrize(
    "line",
    [
        "=   PID 4711 RUNNING AT n1",
        "=   RANK 1 PID 4711 RUNNING AT n1",
        "mpirun noticed that process rank 1 with PID 4711 on node n1 exited on signal 9 (Killed).",
        "probe: rank 1 (process 4711) has ended before the others",
    ],
)
def test_a_rank_is_named_by_its_process(line: str) -> None:
    assert ended_rank(["some words 4712", line, "YOUR APPLICATION TERMINATED"], PLACEMENT) == NAMED


def test_what_a_rank_has_seen_goes_before_what_launchers_clean_up() -> None:
    lines = ["probe: rank 1 (process 4711) has ended before the others", "killing PID 4710"]
    assert ended_rank(lines, PLACEMENT) == NAMED


@pytest.mark.parametrize("line", ["PID 4710 and PID 4711", "PID 99", "rank 1 failed", ""])
def test_nothing_is_guessed(line: str) -> None:
    assert ended_rank([line], PLACEMENT) == ""


def test_the_kernel_goes_before_launchers_that_name_all() -> None:
    lines = ["RANK 0 PID 4710 RUNNING AT n1", "RANK 1 PID 4711 RUNNING AT n1"]
    assert ended_rank(lines, PLACEMENT) == ""
    assert ended_rank(lines, PLACEMENT, PLACEMENT[1]) == NAMED


ALL_GIVE_UP = [
    "probe: rank 0: rank 1 (process 4711) has ended before the others",
    "probe: rank 2: rank 0 (process 4710), rank 1 (process 4711) has ended before the others",
]


def test_a_rank_that_gave_up_because_of_another_is_not_named() -> None:
    assert ended_rank(ALL_GIVE_UP, PLACEMENT) == NAMED
    assert ended_rank(ALL_GIVE_UP, PLACEMENT, PLACEMENT[2]) == NAMED


def test_of_ranks_that_all_hold_a_life_line_the_first_is_named() -> None:
    lines = ["probe: rank 2: rank 0 (process 4710) has ended before the others"]
    assert ended_rank(lines, PLACEMENT, PLACEMENT[1], is_sure=True) == NAMED


def test_a_rank_that_gave_up_first_has_said_why() -> None:
    lines = ["probe: rank 0: rank 1 (process 4711) has ended", "probe: rank 1: no memory"]
    assert ended_rank(lines, PLACEMENT, PLACEMENT[1], is_sure=True) == ""
    assert own_words(lines, PLACEMENT[1])[0] == "rank 1: no memory"
