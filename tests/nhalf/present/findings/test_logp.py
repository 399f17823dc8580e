"""Findings on processors that are busy, and on a latency that cannot be told."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.base.plugins import load
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding

Make = Callable[..., pl.LazyFrame]


def found(measurements: pl.LazyFrame) -> list[Finding]:
    data = Facts(measurements)
    return list(load("nhalf.present.findings", Finder)["logp"]().find(data))


def test_nothing_measured_nothing_said(make_measurements: Make) -> None:
    assert found(make_measurements()) == []


def test_processors_that_are_free_most_of_the_time_are_no_finding(make_logp: Make) -> None:
    assert found(make_logp()) == []


def test_busy_processors_are_a_finding_with_their_share(make_logp: Make) -> None:
    (finding,) = found(make_logp(o_s=3e-6, o_r=3e-6, L=2e-6))
    assert finding.kind == "processors-busy"
    assert finding.value == pytest.approx(0.75)
    assert (finding.low, finding.high) == pytest.approx((0.75, 0.75))
    assert "busy for 75 % of the time" in finding.text
    assert "3 µs to send and 3 µs to receive it, of 8 µs" in finding.text


def test_one_launch_is_not_enough(make_logp: Make) -> None:
    assert found(make_logp(o_s=3e-6, o_r=3e-6, L=2e-6, launches=1)) == []


def test_a_latency_that_cannot_be_told_is_a_doubt(make_logp: Make) -> None:
    (finding,) = found(make_logp(o_s=4e-6, o_r=3e-6, L=-2e-6))
    assert finding.kind == "latency-unknown"
    assert finding.importance < 40
    assert finding.figure == "5 µs"
    assert "cannot be distinguished from 0" in finding.text
    assert finding.text.endswith("the sum L + o_s + o_r, instead: mpich 5 µs (5 µs to 5 µs).")


def test_libraries_whose_latency_cannot_be_told_share_a_finding(make_logp: Make) -> None:
    unknown = {"o_s": 4e-6, "o_r": 3e-6, "L": -2e-6}
    busy = make_logp(mpi="busy", o_s=3e-6, o_r=3e-6, L=2e-6)
    first, second = found(pl.concat([make_logp(mpi=name, **unknown) for name in "ab"] + [busy]))
    assert "a 5 µs (5 µs to 5 µs), b 5 µs" in first.text
    assert (second.kind, second.mpi) == ("processors-busy", "busy")
