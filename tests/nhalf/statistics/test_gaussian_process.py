"""Smooth corrections: they pass through what was measured and say where they are unsure."""

from __future__ import annotations

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.statistics.gaussian_process import Correction


def places() -> Floats:
    p, n = np.meshgrid(np.arange(1.0, 9.0), np.arange(0.0, 21.0, 2.0), indexing="ij")
    return np.stack([p.ravel(), n.ravel()], axis=1)


def hill(place: Floats) -> Floats:
    found: Floats = 0.1 * place[:, 0] + 0.3 * np.tanh((place[:, 1] - 12) / 3)
    return found


def test_between_places_it_is_near_and_farther_away_less_sure() -> None:
    fitted = Correction.fit(places(), hill(places()))
    between = places() + np.array([0.3, 0.9])
    mean, deviation = fitted.predict(between[between[:, 0] < 8])
    assert np.abs(mean - hill(between[between[:, 0] < 8])).max() < 0.03
    _, far = fitted.predict(np.array([[20.0, 40.0]]))
    assert far[0] > 3 * deviation.max()


def test_a_constant_is_a_constant() -> None:
    fitted = Correction.fit(places(), np.full(len(places()), 0.5))
    mean, deviation = fitted.predict(np.array([[3.3, 7.7]]))
    assert abs(mean[0] - 0.5) < 0.01
    assert deviation[0] < 0.05


def test_one_place_says_what_it_knows_and_that_it_is_unsure() -> None:
    fitted = Correction.fit(np.array([[3.0, 10.0]]), np.array([0.4]))
    mean, deviation = fitted.predict(np.array([[3.0, 10.0], [8.0, 20.0]]))
    assert abs(mean[0] - 0.4) < 0.05
    assert deviation[1] > deviation[0]
    assert deviation[1] > 0.05


def test_left_out_values_are_predicted_from_all_others() -> None:
    place, value = places(), hill(places())
    fitted = Correction.fit(place, value)
    i = 40
    rest = np.arange(len(value)) != i
    alone = Correction(place[rest], value[rest], fitted.scale, fitted.nugget, fitted.variance)
    assert np.isclose(fitted.left_out()[i], alone.predict(place[i : i + 1])[0][0])


def test_noise_is_smoothed() -> None:
    noise = np.random.default_rng(3).normal(0, 0.1, len(places()))
    fitted = Correction.fit(places(), hill(places()) + noise)
    mean, _ = fitted.predict(places())
    assert np.abs(mean - hill(places())).mean() < np.abs(noise).mean() * 0.7
