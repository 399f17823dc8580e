"""Panels of dense traffic, and the phase that is a finding."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings import findings
from tests.nhalf.present.panels.drawing import drawn, rows_of
from tests.nhalf.present.panels.points import QUIET, points

Make = Callable[..., pl.LazyFrame]


def test_dense_traffic_has_a_facet_per_pattern_and_a_choice_of_library(
    make_measurements: Make,
) -> None:
    phases = ["phase=1", "phase=2", "phase=3"]
    patterns = ["dense-alltoall", "dense-pairwise", "dense-cumulative", "dense-random"]
    measured = pl.concat(
        [
            points(make_measurements, pattern, phases, libraries=("a", "b"), bytes_per_time=20000)
            for pattern in patterns
        ]
    )
    spec = drawn("dense", Facts(measured))
    rows = rows_of(spec)
    assert len({row["pattern"] for row in rows}) == 4
    assert {row["phase"] for row in rows} == {1, 2, 3}
    (chosen,) = [p for p in spec["params"] if p["name"] == "chosen"]
    assert chosen["bind"]["options"] == ["a", "b"]


def test_processes_that_wait_do_not_make_a_phase_slow(make_measurements: Make) -> None:
    """Among 64 ranks all pair at distance 1, two at distance 63; each sends the same."""
    sends = {"phase=1": 64, "phase=32": 64, "phase=63": 2}
    measured = pl.concat(
        make_measurements(
            patterns=("dense-pairwise",), axes=phase, sizes=(4096,), ranks=64,
            rank_s=[1e-6] * 64, bytes_per_time=4096 * active, seed=place, **QUIET,
        )
        for place, (phase, active) in enumerate(sends.items())
    )  # fmt: skip
    data = Facts(measured)
    spec = drawn("dense", data)
    rows = {row["phase"]: row for row in rows_of(spec)}
    assert {row["rate"] for row in rows.values()} == {rows[1]["rate"]}
    assert rows[1]["rate"] == pytest.approx(4096 / (1e-6 + 4096 / 5e9), rel=1e-3)
    assert rows[63]["active"] == "2 of 64"
    assert [one for one in findings(data) if one.kind == "slowest-phase"] == []


def test_the_phase_with_a_narrow_path_is_a_finding(make_measurements: Make) -> None:
    measured = pl.concat(
        make_measurements(
            patterns=("dense-alltoall",), axes=f"phase={phase}", sizes=(8, 4096), ranks=64,
            rank_s=[1e-6] * 64, bytes_per_time=4096 * 64, slower={"mpich": slower}, seed=phase,
        )
        for phase, slower in ((1, 1.0), (32, 3.0), (63, 1.1))
    )  # fmt: skip
    (found,) = (one for one in findings(Facts(measured)) if one.kind == "slowest-phase")
    assert found.low <= 3 <= found.high
    assert found.text.startswith(
        "mpich, 64 ranks, dense-alltoall of 4 KiB: each process that takes part sends "
    )
    assert " at distance 32 and 2." in found.text
    assert " GB/s at distance 1, " in found.text


def test_phases_in_noise_are_no_finding(make_measurements: Make) -> None:
    measured = pl.concat(
        make_measurements(
            patterns=("dense-alltoall",), axes=f"phase={phase}", sizes=(4096,), ranks=8,
            rank_s=[1e-6] * 8, bytes_per_time=4096 * 8, launch_noise=0.2, seed=phase,
        )
        for phase in range(1, 8)
    )  # fmt: skip
    assert [one for one in findings(Facts(measured)) if one.kind == "slowest-phase"] == []
