"""Intervals of a line's parameters hold the truth, and exist where a parameter is 0."""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.models.forms import Curve
from nhalf.models.forms.linear import Linear
from nhalf.models.forms.segmented import Segmented
from nhalf.models.line import piece_intervals

SIZES = np.array([0.0, *(2.0**k for k in range(23))])


def launches_of(time_s, relative, seed, launches=5):
    random = np.random.default_rng(seed)
    whole = np.exp(relative * random.standard_normal((launches, 1)))
    rows = time_s * whole * np.exp(0.01 * random.standard_normal((launches, len(time_s))))
    median = np.median(rows, axis=0)
    return Curve(SIZES[: len(time_s)], median, rows.min(axis=0), rows.max(axis=0), rows)


def test_without_noise_intervals_have_no_width():
    time = 2e-6 + SIZES / 1e10
    curve = Curve(SIZES, time, time, time, np.stack([time] * 3))
    model = Linear.fit(curve)
    found = piece_intervals(curve, model.piece)
    assert found.t0_s == pytest.approx((2e-6, 2e-6), rel=1e-9)
    assert found.r_inf_Bps == pytest.approx((1e10, 1e10), rel=1e-9)
    assert found.n_half_bytes == pytest.approx((2e4, 2e4), rel=1e-9)


def test_intervals_over_launches_cover_the_truth():
    covered = np.zeros(3)
    runs = 300
    for seed in range(runs):
        curve = launches_of(2e-6 + SIZES / 1e10, 0.05, seed)
        found = piece_intervals(curve, Linear.fit(curve).piece)
        truth = zip(
            (found.t0_s, found.r_inf_Bps, found.n_half_bytes), (2e-6, 1e10, 2e4), strict=True
        )
        covered += [low <= value <= high for (low, high), value in truth]
    assert np.all(covered >= 0.92 * runs)
    assert np.all(covered[:2] < runs)


def test_one_launch_gives_no_interval():
    """What it shows of itself says nothing of the next launch."""
    time = 2e-6 + SIZES / 1e10
    curve = Curve(SIZES, time, 0.95 * time, 1.05 * time, time[None, :])
    assert piece_intervals(curve, Linear.fit(curve).piece) is None


def test_launches_that_miss_sizes_are_used_for_the_rest():
    curve = launches_of(2e-6 + SIZES / 1e10, 0.02, 1)
    rows = curve.launch_time_s.copy()
    rows[0, 3:] = np.nan
    rows[1] = np.nan
    curve = Curve(curve.size_bytes, curve.time_s, curve.low_s, curve.high_s, rows)
    for piece in Segmented.fit(curve).pieces:
        found = piece_intervals(curve, piece)
        assert found.t0_s[0] <= piece.t0_s <= found.t0_s[1]


def test_a_flat_line_has_an_infinite_rate():
    time = np.full(8, 1e-6)
    curve = launches_of(time, 0.05, 3)
    piece = Linear.fit(curve).piece
    found = piece_intervals(curve, piece)
    assert found.r_inf_Bps[0] <= piece.r_inf_Bps <= found.r_inf_Bps[1] <= math.inf
    assert not any(math.isnan(x) for pair in vars(found).values() for x in pair)
