"""How long a run in virtual time takes in real time, as it says before it begins."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import Block, Plan
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.subject import plain_subject
from nhalf.measure.virtual.machine import RealTime, real_time, start_in_words, start_s
from nhalf.mpi import Library


def _of(pattern: str, ranks: int, sizes: str, launches: int = 1) -> RealTime:
    block = Block([pattern], [ranks], sizes, launches=launches)
    plan = Plan(["model"], [], [block], launches, 0.0, 0.03, "", 1, 60.0)
    return real_time(Agenda(plan, [plain_subject("model")], RunState(placement="cores")))


def test_it_grows_with_ranks_and_bytes() -> None:
    few, many = (_of("allreduce", ranks, "8,16,32") for ranks in (4, 128))
    assert 30 < many.low_s / few.low_s < 100
    # Four exchanges of 63 x 64 messages of 1 MiB at 1 GB/s.
    assert 15 < _of("alltoall", 64, "1M").low_s < 20


def test_it_is_a_range_of_messages() -> None:
    # 4 operations of 2 ranks: 2 messages, a round of control by both, 3 messages beside them.
    passing_s = 4 * 7 / 80e3
    one = _of("allreduce", 2, "0")
    assert one.low_s == pytest.approx(passing_s)
    assert one.high_s == pytest.approx(passing_s * 2.5 / 0.4)
    five = _of("allreduce", 2, "0", launches=5)
    assert (five.low_s, five.high_s) == pytest.approx((5 * one.low_s, 5 * one.high_s))


def test_only_long_runs_are_announced() -> None:
    assert RealTime(15.0, 59.0, 3).in_words(0) == ""
    assert RealTime(0.0, 0.0, 0).in_words(0) == ""
    assert RealTime(20.0, 120.0, 40).in_words(300) == (
        "40 points take about 20 s to 2 min of real time, longer where other programs have the "
        "cores; what does not fit its budget of 5 min is left out"
    )
    assert "the default time is left out" in RealTime(20.0, 120.0, 40).in_words(0)


def test_a_start_takes_what_its_library_does() -> None:
    def library(vendor: str) -> Library:
        return Library(f"{vendor}-1", vendor, "1", Path("none"), None, "hydra", True, None, "wheel")

    assert start_s(None, 1000) == 0
    assert start_in_words(library("mpich"), 128) == ""
    assert start_in_words(library("openmpi"), 128) == (
        "128 ranks of openmpi-1 take about 18 s to 36 s to start"
    )
