"""What is doubted about the parameters of a library."""

from __future__ import annotations

import polars as pl
import pytest

from nhalf.results.logp.parameters import logp
from nhalf.results.logp.times import GAP, RECEIVE, ROUND_TRIP, SEND
from tests.nhalf.results.logp.ideal import (
    GIVEN,
    ideal,
    values,
)


def test_an_overhead_above_the_gap_is_named_and_not_clipped() -> None:
    def slow_receive(pattern: str, size: int, time_s: float) -> float:
        return 9e-6 if pattern == RECEIVE and size <= 8 else time_s

    found = logp(ideal(change=slow_receive))
    assert values(found)["recv_overhead_s"] == 9e-6
    warnings = [warning for warning in found.doubts if warning.startswith("o_r exceeds g")]
    assert len(warnings) == 1
    assert "at 3 sizes from 0 B to 8 B (most at 0 B: 9 µs against 6 µs)" in warnings[0]
    assert not any(warning.startswith("o_s exceeds") for warning in found.doubts)


@pytest.mark.parametrize(
    ("send_s", "latency_s", "why"),
    [
        (6.5e-6, 0.0, "o_s + o_r, is nearly the total time of a message"),
        (8e-6, -1.5e-6, "o_s + o_r, timed separately, exceed the total time"),
    ],
)
def test_latency_of_0_and_below_is_named_and_not_clipped(
    send_s: float, latency_s: float, why: str
) -> None:
    def slow_send(pattern: str, size: int, time_s: float) -> float:
        byte_s = GIVEN["G"] if (pattern, size) == (ROUND_TRIP, 1) else 0.0
        return send_s if pattern == SEND else time_s - byte_s

    found = logp(ideal(change=slow_send))
    assert values(found)["latency_s"] == pytest.approx(latency_s, abs=1e-17)
    assert found.identifiable is False
    assert why in found.doubts[0]


def test_launches_that_differ_are_the_other_reason() -> None:
    rows = ideal(factors=(1.0, 1.0, 1.0)).with_columns(
        median_s=pl.when((pl.col("pattern") == ROUND_TRIP) & (pl.col("launch") == 2))
        .then(pl.col("median_s") * 40)
        .otherwise("median_s")
    )
    found = logp(rows)
    assert found.identifiable is False
    assert "launches differ too much" in found.doubts[0]


@pytest.mark.parametrize(("factor", "words"), [(0.5, "closer together"), (3.0, "farther apart")])
def test_a_stream_that_differs_from_round_trips_is_named(factor: float, words: str) -> None:
    def other_stream(pattern: str, size: int, time_s: float) -> float:
        return time_s * factor if pattern == GAP and size >= 4096 else time_s

    (warning,) = logp(ideal(change=other_stream)).doubts
    assert f"messages arrive {words}" in warning
    assert "at 3 sizes from 4 KiB to 64 KiB" in warning
    assert not logp(ideal()).doubts


def test_overheads_that_the_clock_does_not_see_are_named() -> None:
    def free(pattern: str, size: int, time_s: float) -> float:
        return 0.0 if pattern == SEND and size <= 1 else time_s

    found = logp(ideal(change=free))
    assert "o_s is below what the clock can resolve at 2 sizes" in found.doubts[-1]
    assert values(found)["send_overhead_s"] == 0


def test_an_interval_wider_than_the_way_is_no_proof_of_busy_processors() -> None:
    def slow_send(pattern: str, size: int, time_s: float) -> float:
        return 8e-6 if pattern == SEND else time_s

    found = logp(ideal(factors=(1.0, 1.0, 9.0), change=slow_send))
    assert found.busy_share is not None
    assert found.busy_share.median > 0.8
    assert found.identifiable is False
    assert "launches differ too much" in found.doubts[0]
