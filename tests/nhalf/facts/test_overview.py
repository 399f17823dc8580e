from __future__ import annotations

import math
from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.overview import overview, patterns_overview
from nhalf.present.wording import n_half_ends
from nhalf.store.keys import MEASUREMENT_COLUMNS

Make = Callable[..., pl.LazyFrame]


def data_of(measured: pl.LazyFrame) -> Facts:
    return Facts(measured)


def test_without_the_main_pattern_each_other_has_a_line(make_measurements: Make) -> None:
    quiet = {"noise": 0.0, "launch_noise": 0.0, "libraries": ("a", "b")}
    phases = [
        make_measurements(
            patterns=("dense-random",),
            sizes=(5000, 10000),
            axes=f"phase={phase}",
            bytes_per_time=20000,
            slower={"a": phase, "b": phase},
            **quiet,
        )
        for phase in (1, 2)
    ]
    barrier = make_measurements(patterns=("barrier",), sizes=(0,), **quiet)
    data = data_of(pl.concat([*phases, barrier]))
    assert overview(data) == []
    lines = patterns_overview(data)
    assert [(line.series, line.pattern) for line in lines] == [
        ("a", "barrier"),
        ("a", "dense-random"),
        ("b", "barrier"),
        ("b", "dense-random"),
    ]
    assert math.isnan(lines[0].peak_Bps), "no rate, and not one of 0"
    dense = lines[1]
    assert (dense.points, dense.smallest_bytes) == (4, 5000)
    assert (dense.quickest_s, dense.slowest_s) == pytest.approx((2e-6, 4e-6))
    assert dense.peak_Bps == pytest.approx(20000 / 2e-6)


def test_nothing_measured_has_no_lines() -> None:
    nothing = pl.LazyFrame(schema=MEASUREMENT_COLUMNS)
    assert patterns_overview(data_of(nothing)) == []


def test_n_half_has_the_interval_of_its_launches(make_measurements: Make) -> None:
    quiet = {"noise": 0.0, "launch_noise": 0.0}
    [exact] = overview(data_of(make_measurements(**quiet)))
    assert exact.n_half_low_bytes == pytest.approx(exact.n_half_bytes, rel=1e-6)
    assert exact.n_half_high_bytes == pytest.approx(exact.n_half_bytes, rel=1e-6)
    [noisy] = overview(data_of(make_measurements(launch_noise=0.05)))
    assert noisy.n_half_low_bytes < noisy.n_half_bytes < noisy.n_half_high_bytes
    # t0 r = 1 us x 5 GB/s
    assert noisy.n_half_low_bytes < 5000 < noisy.n_half_high_bytes


def test_one_launch_gives_n_half_no_interval(make_measurements: Make) -> None:
    [alone] = overview(data_of(make_measurements(launches=1)))
    assert alone.n_half_bytes == pytest.approx(5000, rel=0.2)
    assert math.isnan(alone.n_half_low_bytes)
    assert n_half_ends(alone) == ""


@pytest.mark.parametrize(
    ("noise", "switches"), [(0.002, ((4096, 8192),)), (0.3, ())], ids=["steady", "noisy"]
)
def test_a_switch_needs_evidence(
    make_measurements: Make, noise: float, switches: tuple[tuple[int, int], ...]
) -> None:
    """A fit finds a break in either curve; launches that differ by a third prove none."""
    measured = make_measurements(noise=0.001, launch_noise=noise, launches=4, seed=2)
    doubled = pl.col("samples_s").list.eval(pl.element() * 2)
    facts = data_of(
        measured.with_columns(
            samples_s=pl.when(pl.col("bytes") > 4096).then(doubled).otherwise(pl.col("samples_s"))
        )
    )
    assert facts.models[0].breakpoints
    assert overview(facts)[0].switches == switches


def test_one_launch_proves_no_switch(make_measurements: Make) -> None:
    measured = make_measurements(noise=0.001, launch_noise=0.0, launches=1)
    doubled = pl.col("samples_s").list.eval(pl.element() * 2)
    step = pl.when(pl.col("bytes") > 4096).then(doubled).otherwise(pl.col("samples_s"))
    facts = data_of(measured.with_columns(samples_s=step))
    assert facts.models[0].breakpoints
    assert overview(facts)[0].switches == ()
