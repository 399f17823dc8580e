# SPDX-License-Identifier: Apache-2.0
"""Nights of many curves: alarms are rare without a change, and a change is found and named first.

Runs differ by more than their launches, and all curves of a night have part of that in common.
"""

from __future__ import annotations

import math

import numpy as np
import polars as pl
import pytest

from nhalf.decide.simulated_nights import share_named_first, share_with_alarm
from nhalf.statistics.next_run import BETWEEN_RUNS
from nhalf.store.schema import LAUNCH_COLUMNS, conformed

NIGHTS = 14
SIZES = (0, 8, 64, 512, 4096, 32768, 262144, 2097152)


def runs_of(
    launch_noise: float,
    launches: int,
    seed: int,
    count: int = 40,
    between_runs: float = BETWEEN_RUNS,
) -> list[pl.DataFrame]:
    """Runs that differ by the share `between_runs` of the variance of launches."""
    random = np.random.default_rng(seed)
    frames = []
    for _ in range(count):
        shift = random.normal(0, math.sqrt(between_runs) * launch_noise)
        level = shift + random.normal(0, launch_noise, (launches, 1))
        own = random.normal(0, 0.02, (launches, len(SIZES)))
        times = (1e-6 + np.array(SIZES) * 1e-10) * np.exp(level + own)
        place, size = np.indices(times.shape)
        columns = {"launch": place.ravel(), "bytes": np.array(SIZES)[size.ravel()]}
        frame = pl.DataFrame({**columns, "median_s": times.ravel()}).with_columns(
            *(pl.lit("").alias(name) for name in ("run", "mpi", "algorithm", "placement", "axes")),
            *(pl.lit(2).alias(name) for name in ("ranks", "samples")),
            transport=pl.lit("model"),
            pattern=pl.lit("pingpong"),
            lowest_s="median_s",
        )
        frames.append(conformed(frame, LAUNCH_COLUMNS))
    return frames


@pytest.mark.full
def test_a_night_without_a_change_is_quiet() -> None:
    """At most one of forty, for all noise and numbers of launches together."""
    worlds = [(noise, launches) for noise in (0.0, 0.03, 0.10) for launches in (3, 5)]
    shares = [
        share_with_alarm(runs_of(noise, launches, seed=7), NIGHTS, launches)
        for noise, launches in worlds
    ]
    assert np.mean(shares) <= 1 / 40


@pytest.mark.parametrize(("launch_noise", "least"), [(0.03, 0.9), (0.05, 0.8)])
def test_a_change_of_one_curve_is_named_first(launch_noise: float, least: float) -> None:
    runs = runs_of(launch_noise, 12, seed=11)
    assert share_named_first(runs, NIGHTS, 12) >= least


def test_nights_that_repeat_their_launches_show_smaller_changes() -> None:
    """With the average share, 8 % between launches hide 1.25x in two of three nights."""
    runs = runs_of(0.08, 12, seed=11, between_runs=0.0)
    assert share_named_first(runs, NIGHTS, 12) >= 0.75


def test_two_launches_decide_nothing() -> None:
    assert share_named_first(runs_of(0.0, 2, seed=1), 3, 2) == 0
