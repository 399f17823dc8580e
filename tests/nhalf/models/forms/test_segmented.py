"""The segmented model recovers what it was given, and refuses what it cannot know."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nhalf.base.errors import InputError
from nhalf.models import least_squares
from nhalf.models.forms import Curve
from nhalf.models.forms.segmented import Segmented

SIZES = np.array([0, 1, *(2**k for k in range(1, 23)), *(3 * 2**k for k in range(0, 20))])
SIZES = np.unique(SIZES).astype(np.float64)


def curve_of(size_bytes, time_s, launch_time_s=None):
    """A curve without noise, or the median of launches."""
    size, time = np.asarray(size_bytes, dtype=float), np.asarray(time_s, dtype=float)
    launches = time[None, :] if launch_time_s is None else launch_time_s
    return Curve(size, time, time, time, launches)


def noisy(size_bytes, time_s, relative, seed, launches=5):
    """A curve over launches with lognormal noise."""
    random = np.random.default_rng(seed)
    factor = np.exp(relative * random.standard_normal((launches, len(size_bytes))))
    rows = np.asarray(time_s) * factor
    return Curve(
        np.asarray(size_bytes, dtype=float),
        np.median(rows, axis=0),
        rows.min(axis=0),
        rows.max(axis=0),
        rows,
    )


def three_segments(size_bytes):
    """Times with a jump after 4096 and a change of rate after 65536 bytes."""
    size = np.asarray(size_bytes, dtype=float)
    return np.where(
        size <= 4096,
        2e-7 + size / 12e9,
        np.where(size <= 65536, 1.8e-6 + size / 9e9, 4e-6 + size / 14e9),
    )


def test_one_line_is_recovered_exactly():
    model = Segmented.fit(curve_of(SIZES, 1.7e-5 + SIZES * 1e-10))
    assert len(model.pieces) == 1
    piece = model.pieces[0]
    assert piece.t0_s == pytest.approx(1.7e-5, rel=1e-6)
    assert piece.r_inf_Bps == pytest.approx(1e10, rel=1e-6)
    assert piece.n_half_bytes == pytest.approx(1.7e5, rel=1e-6)


@pytest.mark.parametrize(
    ("t0_s", "r_inf_Bps"), [(1.25e-6, 1264e6), (1.25e-6, 632e6), (47e-6, 23.5e6)]
)
def test_whole_picoseconds_are_no_bend(t0_s, r_inf_Bps):
    sizes = SIZES[np.log2(np.maximum(SIZES, 1)) % 1 == 0]
    times = np.floor(1e12 * (t0_s + sizes / r_inf_Bps)) / 1e12
    (piece,) = Segmented.fit(curve_of(sizes, times)).pieces
    assert piece.r_inf_Bps == pytest.approx(r_inf_Bps, rel=1e-5)


def test_three_segments_are_recovered_exactly():
    model = Segmented.fit(curve_of(SIZES, three_segments(SIZES)))
    assert [p.t0_s for p in model.pieces] == pytest.approx([2e-7, 1.8e-6, 4e-6], rel=1e-6)
    assert [p.r_inf_Bps for p in model.pieces] == pytest.approx([12e9, 9e9, 14e9], rel=1e-6)
    assert [(b.low_bytes, b.high_bytes) for b in model.breaks] == [(4096, 6144), (65536, 98304)]
    assert model.breaks[0].jump
    assert model.breaks[0].change_percent == pytest.approx(
        100 * ((1.8e-6 + 4096 / 9e9) / (2e-7 + 4096 / 12e9) - 1), rel=1e-6
    )


@st.composite
def machines(draw):
    """Segments whose lines are clearly different, each over at least four of SIZES."""
    count = draw(st.integers(1, 4))
    cuts = sorted(draw(st.sets(st.integers(1, 9), min_size=count - 1, max_size=count - 1)))
    starts = [0, *(4 * cut for cut in cuts)]
    t0 = draw(st.floats(1e-7, 1e-5))
    parameters = []
    for _ in starts:
        parameters.append((t0, draw(st.floats(1e8, 1e11))))
        t0 *= draw(st.floats(1.5, 10))
    return starts, parameters


@settings(deadline=None, max_examples=100)
@given(machines())
def test_fit_of_a_sample_returns_the_model(machine):
    starts, parameters = machine
    time = np.empty_like(SIZES)
    for start, (t0, rate) in zip(starts, parameters, strict=True):
        time[start:] = t0 + SIZES[start:] / rate
    model = Segmented.fit(curve_of(SIZES, time))
    np.testing.assert_allclose(model.predict_s(SIZES), time, rtol=1e-6)
    if len(model.pieces) == len(starts):
        assert [b.high_bytes for b in model.breaks] == [SIZES[s] for s in starts[1:]]


@pytest.mark.parametrize("seed", range(20))
def test_a_noisy_line_stays_one_segment(seed):
    model = Segmented.fit(noisy(SIZES, 2e-6 + SIZES * 1e-10, 0.05, seed))
    assert len(model.pieces) == 1


@pytest.mark.parametrize("seed", range(20))
def test_noise_does_not_hide_a_jump(seed):
    model = Segmented.fit(noisy(SIZES, three_segments(SIZES), 0.03, seed))
    brackets = [(change.low_bytes, change.high_bytes) for change in model.breaks]
    assert (4096, 6144) in brackets
    assert len(model.pieces) <= 4


@settings(deadline=None, max_examples=100)
@given(st.lists(st.floats(1e-9, 1.0), min_size=1, max_size=30), st.integers(0, 1000))
def test_parameters_are_never_negative(times, first):
    size = first + 7.0 * np.arange(len(times)) ** 2
    model = Segmented.fit(curve_of(size, times))
    for piece in model.pieces:
        assert piece.t0_s >= 0
        assert piece.per_byte_s >= 0
        assert piece.t0_s + piece.per_byte_s > 0
    assert np.all(model.predict_s(size[size > 0]) > 0)


@pytest.mark.parametrize("sizes", [[0], [4096], [0, 1], [1, 2, 3], [0, 1 << 40]])
def test_few_sizes_are_fitted(sizes):
    time = np.linspace(1e-6, 2e-6, len(sizes))
    model = Segmented.fit(curve_of(sizes, time))
    np.testing.assert_allclose(model.predict_s(np.array(sizes, dtype=float)), time, rtol=1e-6)


def test_two_sizes_are_no_segment():
    """Any line meets two points: jumps at the first and at the last size are misfits of one."""
    sizes = [0, 1, 2, 4, 8, 16, 32, 64, 128]
    time = np.array([5.0, 1, 1, 1, 1, 1, 1, 1, 9]) * 1e-6
    rows = np.stack([time * factor for factor in (0.99, 1.0, 1.01, 1.02)])
    for piece in Segmented.fit(Curve(np.array(sizes, float), time, time, time, rows)).pieces:
        inside = [piece.from_bytes <= size <= piece.to_bytes for size in sizes]
        assert sum(inside) >= 3


def test_equal_times_have_no_rate():
    (piece,) = Segmented.fit(curve_of(SIZES, np.full_like(SIZES, 3e-6))).pieces
    assert piece.t0_s == pytest.approx(3e-6, rel=1e-9)
    assert piece.r_inf_Bps > 1e20


def test_falling_times_are_flat():
    (piece,) = Segmented.fit(curve_of([0, 1, 2], [3e-6, 2e-6, 1e-6])).pieces
    assert piece.r_inf_Bps == np.inf
    assert piece.n_half_bytes == np.inf


@pytest.mark.parametrize(
    ("sizes", "times"),
    [
        ([], []),
        ([0, 1], [1e-6, np.nan]),
        ([0, 1], [1e-6, 0.0]),
        ([1, 1], [1e-6, 1e-6]),
        ([2, 1], [1e-6, 1e-6]),
        ([-1, 1], [1e-6, 1e-6]),
        ([0, 1], [1e-6, np.inf]),
    ],
)
def test_bad_curves_are_refused(sizes, times):
    with pytest.raises(InputError):
        Segmented.fit(curve_of(sizes, times))


def test_it_does_not_extrapolate():
    model = Segmented.fit(curve_of([8, 16, 32], [1e-6, 2e-6, 3e-6]))
    with pytest.raises(InputError, match="8 to 32"):
        model.predict_s(np.array([64.0]))
    with pytest.raises(InputError):
        model.predict_s(np.array([np.nan]))


def test_a_narrow_break_is_put_at_the_round_size():
    size = np.array([0, 1000, 2000, 4000, 4200, 6000, 8000, 12000.0])
    model = Segmented.fit(curve_of(size, np.where(size < 4096, 1e-6, 5e-6) + size * 1e-10))
    predicted = model.predict_s(np.array([4095.0, 4096.0]))
    assert predicted[1] > 2 * predicted[0]


def test_launches_that_were_interrupted_do_not_hide_the_segments():
    """Every fifth time is a thousand times too long: a neighbour took the processor."""
    found = 0
    for seed in range(10):
        curve = noisy(SIZES, three_segments(SIZES), 0.02, seed)
        rows = curve.launch_time_s.copy()
        rows[np.random.default_rng(seed).random(rows.shape) < 0.15] *= 1000
        median = np.median(rows, axis=0)
        model = Segmented.fit(Curve(SIZES, median, rows.min(axis=0), rows.max(axis=0), rows))
        found += (4096, 6144) in [(change.low_bytes, change.high_bytes) for change in model.breaks]
        assert model.pieces[0].t0_s == pytest.approx(2e-7, rel=0.1)
    # Where most launches are interrupted at a size, that size is what was measured.
    assert found >= 9


def test_a_factor_on_a_whole_launch_is_no_noise():
    """Launches at different clock speeds agree on the shape: small jumps are still seen."""
    time = np.where(SIZES <= 4096, 1.0, 1.1) * (2e-6 + SIZES * 1e-10)
    rows = time * np.array([1.0, 1.5, 1.0, 2.0, 0.7])[:, None]
    model = Segmented.fit(Curve(SIZES, time, time, 2 * time, rows))
    assert [(b.low_bytes, b.high_bytes) for b in model.breaks] == [(4096, 6144)]
    assert model.breaks[0].change_percent == pytest.approx(10, rel=1e-6)


def test_small_changes_are_bridged_and_large_ones_switch():
    small = Segmented.fit(curve_of(SIZES, np.where(SIZES <= 4096, 1.0, 1.1) * 1e-6))
    assert small.predict_s(np.array([5120.0]))[0] == pytest.approx(1.05e-6, rel=1e-6)
    large = Segmented.fit(curve_of(SIZES, np.where(SIZES <= 4096, 1.0, 3.0) * 1e-6))
    assert large.predict_s(np.array([5120.0]))[0] == pytest.approx(3e-6, rel=1e-6)
    assert large.predict_s(np.array([4097.0]))[0] == pytest.approx(3e-6, rel=1e-6)


def test_a_bend_is_continuous():
    time = np.maximum(1e-6 + SIZES * 1e-10, SIZES * 4e-10)
    model = Segmented.fit(curve_of(SIZES, time))
    inside = np.array([3333.0, 3400.0])
    expected = np.maximum(1e-6 + inside * 1e-10, inside * 4e-10)
    np.testing.assert_allclose(model.predict_s(inside), expected, rtol=1e-6)
    assert not model.breaks[0].jump


@pytest.mark.parametrize("count", [361, 2001])
def test_breaks_of_fine_grids_are_found_to_the_size(count):
    size = np.arange(float(count))
    time = np.where(size <= 100, 1e-6, np.where(size <= 333, 2e-6, 5e-6)) + size * 1e-9
    model = Segmented.fit(curve_of(size, time))
    assert [(b.low_bytes, b.high_bytes) for b in model.breaks] == [(100, 101), (333, 334)]
    np.testing.assert_allclose(model.predict_s(size), time, rtol=1e-9)


def test_the_work_grows_no_faster_than_the_curve(monkeypatch):
    """A curve of 50000 sizes: blocks are compared with each other, sizes only near breaks."""
    seen = []
    plain = least_squares._costs_from
    monkeypatch.setattr(
        least_squares, "_costs_from", lambda sums: seen.append(sums.one.size) or plain(sums)
    )
    size = np.arange(50_000.0)
    model = Segmented.fit(noisy(size, three_segments(size), 0.02, seed=1, launches=3))
    assert [(b.low_bytes, b.high_bytes) for b in model.breaks] == [(4096, 4097)]
    assert sum(seen) < 150 * size.size


@pytest.mark.parametrize("seed", range(20))
def test_launches_that_differ_by_a_factor_only_stay_one_segment(seed):
    """Rounding is not noise: without any noise of points nothing may be read into the rest."""
    factor = np.exp(0.05 * np.random.default_rng(seed).standard_normal((5, 1)))
    rows = (2e-6 + SIZES * 1e-10) * factor
    model = Segmented.fit(curve_of(SIZES, np.median(rows, axis=0), rows))
    assert len(model.pieces) == 1


@pytest.mark.parametrize("seed", range(20))
def test_a_noisy_line_of_launches_far_apart_stays_one_segment(seed):
    random = np.random.default_rng(seed)
    state = np.where(random.random((5, 1)) < 0.3, 1.3, 1.0)
    rows = (2e-6 + SIZES * 1e-10) * state * np.exp(0.03 * random.standard_normal((5, SIZES.size)))
    model = Segmented.fit(curve_of(SIZES, np.median(rows, axis=0), rows))
    assert len(model.pieces) <= 2
