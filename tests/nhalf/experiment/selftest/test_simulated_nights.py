"""Nights of many curves: alarms are rare without a change, and a change is found and named first.

Runs differ by more than their launches, and all curves of a night have part of that in common.

Nights that are drawn from kept runs, whose launches are known to differ by as much as here.
"""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.experiment.selftest.simulated_nights import (
    LAUNCHES,
    LAUNCHES_LEAST,
    NightRates,
    resampled_nights,
    runs_that_differ,
    share_missed,
    share_named_first,
    share_with_alarm,
    share_with_alarm_at_looks,
)
from nhalf.facts.facts import Facts
from nhalf.statistics.family import FALSE_ALARMS
from nhalf.store.keys import FLAGGED_COLUMNS, MEASUREMENT_COLUMNS, conformed

NIGHTS = 14
RUNS = 40


@pytest.mark.full
def test_a_night_without_a_change_is_quiet() -> None:
    """At most one of forty, for all noise and numbers of launches together."""
    worlds = [(noise, launches) for noise in (0.0, 0.03, 0.10) for launches in (3, 5)]
    shares = [
        share_with_alarm(runs_that_differ(noise, launches, RUNS, seed=7), NIGHTS, launches)
        for noise, launches in worlds
    ]
    assert np.mean(shares) <= 1 / 40


@pytest.mark.parametrize(("launch_noise", "least"), [(0.03, 0.9), (0.05, 0.8)])
def test_a_change_of_one_curve_is_named_first(launch_noise: float, least: float) -> None:
    runs = runs_that_differ(launch_noise, 12, RUNS, seed=11)
    assert share_named_first(runs, NIGHTS, 12) >= least


def test_nights_that_repeat_their_launches_show_smaller_changes() -> None:
    """With the average share, 8 % between launches hide 1.25x in two of three nights."""
    runs = runs_that_differ(0.08, 12, RUNS, seed=11, between_runs=0.0)
    assert share_named_first(runs, NIGHTS, 12) >= 0.7


def test_launches_that_hung_do_not_hide_a_change() -> None:
    """One in thirty on either side: with the usual variance one of these nights finds it."""
    runs = runs_that_differ(0.03, 30, RUNS, seed=11, hung_share=1 / 30)
    assert share_named_first(runs, 10, 30) >= 0.7


@pytest.mark.parametrize("launch_noise", [pytest.param(0.0, marks=pytest.mark.full), 0.03])
def test_a_curve_that_is_slower_by_the_tolerance_is_hardly_called_not_slower(
    launch_noise: float,
) -> None:
    runs = runs_that_differ(launch_noise, 12, 16 * 40, seed=13)
    assert share_missed(runs, 40, 12) <= 0.05


def test_two_launches_decide_nothing() -> None:
    assert share_named_first(runs_that_differ(0.0, 2, RUNS, seed=1), 3, 2) == 0


@pytest.mark.full
def test_looks_raise_no_more_alarms_together_than_one() -> None:
    """With the whole rate at each look, three of these nights raise one."""
    runs = runs_that_differ(0.15, 32, 100, seed=5)
    assert share_with_alarm_at_looks(runs, 60, (4, 8, 16, 32)) <= FALSE_ALARMS


CURVES = 4


def facts_of(runs: int, launches: int, launch_noise: float, between_runs: float = 0.0) -> Facts:
    """Kept runs of four curves, whose launches differ by `launch_noise`."""
    drawn = runs_that_differ(launch_noise, launches, runs * CURVES, 5, between_runs=between_runs)
    rows = [
        frame.with_columns(
            run=pl.lit(f"run{number // CURVES}"),
            axes=pl.lit(f"curve={number % CURVES}"),
            flag_s=None,
            gpu_clock_hz=None,
        )
        for number, frame in enumerate(drawn)
    ]
    flagged = conformed(pl.concat(rows), FLAGGED_COLUMNS)
    empty = pl.LazyFrame(schema=MEASUREMENT_COLUMNS)
    environments = {f"run{number}": {} for number in range(runs)}
    return Facts(empty, environments=environments).with_known(flagged=flagged)


@pytest.mark.full
def test_more_launches_find_what_few_do_not() -> None:
    few, some, many = resampled_nights(facts_of(1, 6, 0.08), 20, seed=1)
    assert [rates.launches for rates in (few, some, many)] == [6, *LAUNCHES]
    assert {rates.nights for rates in (few, some, many)} == {20}
    assert few.first < some.first < many.first
    assert many.first >= 18
    assert few.alarms + some.alarms + many.alarms <= 1


def test_launches_that_hardly_differ_show_the_change_at_once() -> None:
    rates = resampled_nights(facts_of(1, 5, 0.01), 10, seed=1)
    assert all((rate.alarms, rate.found_count, rate.first) == (0, 10, 10) for rate in rates)
    assert {rate.curves for rate in rates} == {CURVES}


def test_equal_launches_are_not_taken_for_a_step_of_the_clock() -> None:
    rates = resampled_nights(facts_of(1, 5, 0.0), 5, seed=1)
    assert all(
        rate.found_count == 5 and rate.inside_share == pytest.approx(1, abs=0.1) for rate in rates
    )


def test_several_runs_are_compared_as_they_are() -> None:
    (rates,) = resampled_nights(facts_of(3, 12, 0.01, 0.3), 100, seed=1)
    assert rates == NightRates(12, 6, CURVES, pytest.approx(0.95, abs=0.06), 0, 6, 6)


@pytest.mark.full
def test_runs_that_differ_by_more_than_launches_raise_alarms() -> None:
    facts = facts_of(6, 12, 0.05)
    shift = pl.when(pl.col("run") >= "run3").then(1.4).otherwise(1.0)
    apart = facts.flagged.with_columns(pl.col("median_s", "lowest_s") * shift)
    (rates,) = resampled_nights(facts.with_known(flagged=apart), 100, seed=1)
    assert rates.nights == 30
    assert rates.alarms == 9, "of 30 pairs, nine are of a fast run and then a slow one"
    assert rates.inside_share is not None
    assert rates.inside_share < 0.6


@pytest.mark.parametrize("launches", [1, LAUNCHES_LEAST - 1])
def test_few_launches_are_refused(launches: int) -> None:
    with pytest.raises(InputError, match="which show too little"):
        resampled_nights(facts_of(1, launches, 0.05), 5, seed=1)


def test_pairs_of_one_launch_decide_nothing() -> None:
    (rates,) = resampled_nights(facts_of(2, 1, 0.05), 5, seed=1)
    assert (rates.inside_share, rates.alarms, rates.found_count) == (None, 0, 0)


def test_runs_without_a_common_curve_find_nothing() -> None:
    facts = facts_of(2, 6, 0.05)
    renamed = pl.when(pl.col("run") == "run1").then(pl.lit("x=1")).otherwise("axes")
    (rates,) = resampled_nights(
        facts.with_known(flagged=facts.flagged.with_columns(axes=renamed)), 5, seed=1
    )
    assert rates == NightRates(6, 2, 0, None, 0, 0, 0)
