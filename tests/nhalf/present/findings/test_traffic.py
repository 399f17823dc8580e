"""The finding on the rule of destinations under which least gets through."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.base.plugins import load
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finder, Finding

Make = Callable[..., pl.LazyFrame]


def found(*frames: pl.LazyFrame) -> list[Finding]:
    measurements = pl.concat(frames)
    data = Facts(measurements)
    return list(load("nhalf.present.findings", Finder)["traffic"]().find(data))


def test_nothing_measured_one_rule_or_equal_rules_are_no_finding(
    make_measurements: Make, make_traffic: Make
) -> None:
    assert found(make_measurements()) == []
    assert found(make_traffic()) == []
    # Half of the senders, half of the rate: nobody gets less.
    half = make_traffic(to="bit-reversal", senders=2, saturated_Bps=4e9)
    assert found(make_traffic(), half) == []


def test_the_rule_that_suffers_most_is_named_with_its_factor(make_traffic: Make) -> None:
    (finding,) = found(
        make_traffic(),
        make_traffic(to="neighbour", saturated_Bps=9e9),
        make_traffic(to="cube", axes="distance=4,", saturated_Bps=6e9),
    )
    assert finding.value == pytest.approx(1.5)
    assert (finding.low, finding.high) == pytest.approx((1.5, 1.5))
    assert finding.text == (
        "mpich, 4 processes, 16 KiB messages under full load: with cube 4, each sender's "
        "throughput is 1.50x lower than with neighbour (interval 1.5 to 1.5)."
    )


def test_the_setting_where_it_matters_most_speaks_for_a_library(make_traffic: Make) -> None:
    findings = found(
        make_traffic(to="neighbour"),
        make_traffic(saturated_Bps=5e9),
        make_traffic(to="neighbour", sizes=(1024,)),
        make_traffic(saturated_Bps=4e9, sizes=(1024,)),
        make_traffic(mpi="other", to="neighbour"),
        make_traffic(mpi="other", saturated_Bps=2e9),
    )
    assert [(one.mpi, one.size_bytes) for one in findings] == [("other", 16384), ("mpich", 1024)]
    assert "with uniform choice, each sender's throughput is 4.0x lower" in findings[0].text


def test_one_launch_is_not_enough(make_traffic: Make) -> None:
    few = {"launches": 1}
    assert found(make_traffic(**few), make_traffic(to="cube", saturated_Bps=1e9, **few)) == []
