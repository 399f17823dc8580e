"""From frames of the store to fitted models."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from nhalf.facts.fit import curves, fit_loggp, fit_summary, machine_of
from nhalf.statistics.summary import launch_medians, stated_visits, summarise
from nhalf.store.keys import MEASUREMENT_COLUMNS

SIZES = [0, *(2**k for k in range(23))]


def rows_of(mpi, sizes, time_of, launches=3, **further):
    base = {
        "run": "r",
        "transport": "mpi",
        "mpi": mpi,
        "pattern": "pingpong",
        "algorithm": "native",
        "ranks": 2,
        "placement": "cores",
        "position": 0,
        "started_s": 0.0,
        "batch": 1,
        "messages_per_round": 2,
        "stop": "precision",
        "verified": True,
        "advice": [],
        **further,
    }
    return [
        {
            **base,
            "bytes": size,
            "bytes_per_time": size,
            "launch": launch,
            "samples_s": [time_of(size)] * 3,
        }
        for launch in range(launches)
        for size in sizes
    ]


def frame_of(rows):
    return pl.DataFrame(rows, schema=MEASUREMENT_COLUMNS, orient="row")


def fitted(rows):
    frame = frame_of(rows).sample(fraction=1.0, shuffle=True, seed=1).lazy()
    return fit_summary(summarise(frame), launch_medians(frame))


def test_every_library_gets_its_own_model():
    rows = rows_of("a", SIZES, lambda n: 1e-6 + n * 1e-10)
    rows += rows_of("b", SIZES, lambda n: 2e-6 + n * 4e-10 + (n > 4096) * 6e-6)
    first, second = fitted(rows)
    assert (first.mpi, second.mpi) == ("a", "b")
    assert first.segments[0].t0_s == pytest.approx(1e-6, rel=1e-6)
    assert first.segments[0].r_inf_Bps == pytest.approx(1e10, rel=1e-6)
    assert first.segments[0].n_half_bytes == pytest.approx(1e4, rel=1e-6)
    assert first.segments[0].t0_ci == pytest.approx((1e-6, 1e-6), rel=1e-6)
    assert first.heldout_p95 < 1e-6
    assert first.heldout_sizes == len(SIZES) - 2
    (change,) = second.breakpoints
    assert (change.low_bytes, change.high_bytes, change.kind) == (4096, 8192, "jump")
    assert [s.t0_s for s in second.segments] == pytest.approx([2e-6, 8e-6], rel=1e-6)


def test_curves_with_fewer_than_three_sizes_are_skipped():
    assert fitted(rows_of("a", [0, 8], lambda n: 1e-6)) == []
    assert len(fitted(rows_of("a", [0, 8, 16], lambda n: 1e-6))) == 1


def test_nothing_gives_nothing():
    assert fitted([]) == []


def test_unverified_sizes_and_zero_times_are_left_out():
    rows = rows_of("a", SIZES, lambda n: 1e-6 + n * 1e-10)
    rows += rows_of("a", [3], lambda n: 5e-3, verified=False)
    rows += rows_of("a", [5], lambda n: 0.0)
    (model,) = fitted(rows)
    assert len(model.segments) == 1
    assert model.heldout_sizes == len(SIZES) - 2


def test_launches_that_miss_a_size_are_nan():
    rows = rows_of("a", SIZES, lambda n: 1e-6 + n * 1e-10)
    rows = [row for row in rows if not (row["launch"] == 1 and row["bytes"] == 8)]
    frame = frame_of(rows).lazy()
    ((key, curve),) = curves(summarise(frame), launch_medians(frame))
    assert key["mpi"] == "a"
    assert curve.launch_time_s.shape == (3, len(SIZES))
    assert np.argwhere(np.isnan(curve.launch_time_s)).tolist() == [[1, SIZES.index(8)]]


def test_steps_on_a_fine_grid_are_part_of_the_model():
    (model,) = fitted(rows_of("a", range(2001), lambda n: 4e-5 + (n + 15) // 232 * 2e-6))
    assert (model.packet_steps.offset_bytes, model.packet_steps.period_bytes) == (217, 232)
    (plain,) = fitted(rows_of("a", range(500), lambda n: 4e-5 + n * 1e-9))
    assert plain.packet_steps is None


def logp_rows(mpi, launches, **further):
    """o_s 1 us, o_r 2 us, L 5 us, gap 4 us, 1 ns per byte."""
    formulas = {
        "overhead-send": lambda n: 1e-6,
        "overhead-recv": lambda n: 2e-6,
        "gap": lambda n: 4e-6 + n * 1e-9,
        "roundtrip": lambda n: 16e-6 + n * 1e-9,
    }
    return [
        row
        for pattern, formula in formulas.items()
        for row in rows_of(mpi, [0, 1, 4096, 65536], formula, launches, pattern=pattern, **further)
    ]


def test_parameters_of_logp_of_every_library_with_intervals():
    rows = logp_rows("a", 3) + logp_rows("b", 1) + logp_rows("c", 3, verified=False)
    several, single = fit_loggp(stated_visits(frame_of(rows).lazy()))
    for found in (several, single):
        assert found.half_round_trip_s == pytest.approx(8e-6)
        assert found.latency_s == pytest.approx(5e-6 + 1e-9)
        assert found.send_overhead_s == pytest.approx(1e-6)
        assert found.recv_overhead_s == pytest.approx(2e-6)
        assert found.gap_s == pytest.approx(4e-6 + 1e-9)
        assert found.gap_per_byte_s == pytest.approx(1e-9)
        assert [size.size_bytes for size in found.sizes] == [0, 1, 4096, 65536]
        assert found.sizes[2].gap_s == pytest.approx(4e-6 + 4096e-9)
    assert (several.mpi, several.ranks, several.placement) == ("a", 2, "cores")
    assert several.latency_ci == pytest.approx((5e-6 + 1e-9,) * 2)
    assert several.identifiable is True
    assert (single.mpi, single.launches, single.latency_ci) == ("b", 1, None)
    assert single.identifiable is None


def test_without_the_patterns_there_are_no_parameters():
    others = frame_of(rows_of("a", SIZES, lambda n: 1e-6))
    assert fit_loggp(stated_visits(others.lazy())) == []
    gaps = frame_of(rows_of("a", [8], lambda n: 1e-6, pattern="gap"))
    (found,) = fit_loggp(stated_visits(gaps.lazy()))
    assert found.latency_s is None
    assert found.sizes[0].size_bytes == 8


def test_a_machine_is_named_after_its_host():
    facts = {"host": "node1", "nested": {"x": 1}, "cores": 4, "empty": ""}
    machine = machine_of("run-1", facts, [])
    assert machine.name == "node1"
    assert machine.environment == {"host": "node1", "cores": "4"}
    assert machine_of("run-1", {}, []).name == "run-1"
