"""Packet steps are found where they are, to the byte, and nowhere else."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.base.errors import InputError
from nhalf.models.forms import Curve, packet_steps
from nhalf.models.forms.packet_steps import PacketSteps

GRID = np.arange(2001.0)
SMOOTH = 40e-6 + GRID * 28e-9


def fit(size_bytes, time_s):
    return PacketSteps.fit(Curve(size_bytes, time_s, time_s, time_s, time_s[None, :]))


def stepped(size_bytes, period, offset, height_s=2e-6):
    return 40e-6 + size_bytes * 10e-9 + height_s * (1 + np.floor((size_bytes - offset) / period))


def noise(relative, seed, count=GRID.size):
    return 1 + relative * np.random.default_rng(seed).standard_normal(count)


def test_the_steps_of_the_sp2_are_recovered_exactly():
    time = stepped(GRID, 232, 217)
    model = fit(GRID, time)
    assert (model.period_bytes, model.offset_bytes) == (232, 217)
    assert model.height_s == pytest.approx(2e-6, rel=1e-6)
    np.testing.assert_allclose(model.predict_s(GRID), time, rtol=1e-9)


@pytest.mark.sampled(3)
@pytest.mark.parametrize("seed", range(10))
def test_the_steps_of_the_sp2_are_recovered_exactly_in_noise(seed):
    model = fit(GRID, stepped(GRID, 232, 217) * noise(0.01, seed))
    assert (model.period_bytes, model.offset_bytes) == (232, 217)
    assert model.height_ci[0] < 2e-6 * 1.05
    assert model.height_ci[1] > 2e-6 * 0.95


@pytest.mark.parametrize(("period", "offset"), [(64, 1), (64, 64), (8, 3), (400, 399), (128, 65)])
def test_any_period_and_offset_are_recovered(period, offset):
    model = fit(GRID, stepped(GRID, period, offset))
    assert (model.period_bytes, model.offset_bytes) == (period, offset)


def test_a_coarser_grid_and_another_origin_are_recovered():
    size = np.arange(1000.0, 9000.0, 8.0)
    model = fit(size, stepped(size, 512, 264))
    assert (model.period_bytes, model.offset_bytes) == (512, 264)


def test_the_fine_part_of_a_mixed_grid_is_used():
    size = np.concatenate((GRID, 2.0 ** np.arange(11, 23)))
    model = fit(size, stepped(size, 232, 217))
    assert (model.period_bytes, model.offset_bytes) == (232, 217)
    assert model.to_bytes == 2000


@pytest.mark.sampled(5)
@pytest.mark.parametrize("seed", range(15))
def test_white_noise_has_no_steps(seed):
    assert fit(GRID, SMOOTH * noise(0.02, seed)).period_bytes is None


@pytest.mark.sampled(11)
@pytest.mark.parametrize("seed", range(2))
@pytest.mark.parametrize(
    "time_s",
    [
        SMOOTH,
        np.full_like(GRID, 1e-6),
        SMOOTH + 5e-6 * (GRID >= 1024),
        SMOOTH + 5e-6 * (GRID >= 300) + 8e-6 * (GRID >= 1500),
        40e-6 + 1e-6 * np.sqrt(GRID),
        40e-6 + 1e-12 * GRID**2,
        SMOOTH + 2e-6 * np.sin(GRID / 50),
        SMOOTH + 5e-6 * (GRID % 256 == 0),
    ],
    ids=["line", "flat", "jump", "two-jumps", "root", "square", "wave", "spikes"],
)
@pytest.mark.parametrize("relative", [0.0, 1e-3])
def test_nothing_is_found_where_nothing_is(time_s, relative, seed):
    assert fit(GRID, time_s * noise(relative, seed)).period_bytes is None


@pytest.mark.parametrize("count", [1, 2, 3, 10, 48])
def test_few_sizes_give_a_line(count):
    model = fit(GRID[:count], SMOOTH[:count])
    assert model.period_bytes is None
    np.testing.assert_allclose(model.predict_s(GRID[:count]), SMOOTH[:count], rtol=1e-9)


def test_it_does_not_extrapolate_and_refuses_bad_curves():
    with pytest.raises(InputError):
        fit(GRID, SMOOTH).predict_s(np.array([4000.0]))
    with pytest.raises(InputError):
        fit(np.array([]), np.array([]))


def test_the_longest_period_is_bounded(monkeypatch):
    """The search over periods costs as much as the data: it does not go on for longer ones."""
    seen = []
    plain = packet_steps._gains
    monkeypatch.setattr(packet_steps, "_gains", lambda *a: seen.append(a[-1]) or plain(*a))
    size = np.arange(4.0 * packet_steps.PERIOD_POINTS_MAX + 400)
    time = 4e-5 + size * 1e-9 + 1e-8 * np.random.default_rng(1).standard_normal(size.size)
    time_s = np.abs(time)
    PacketSteps.fit(Curve(size, time_s, time_s, time_s, time_s[None, :]))
    assert (min(seen), max(seen)) == (4, packet_steps.PERIOD_POINTS_MAX)
