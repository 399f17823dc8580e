"""Tails that grew while the median stayed: found where planted, and nowhere else."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.decide.changes import CurveRatio
from nhalf.decide.check.against import against_former
from nhalf.decide.check.verdict import CheckedRun, finding
from nhalf.decide.tail_ratios import size_groups
from nhalf.facts.facts import Facts
from nhalf.facts.tails import tail_samples
from nhalf.store.run import Run

Make = Callable[..., pl.LazyFrame]
Change = Callable[[np.ndarray[Any, Any]], np.ndarray[Any, Any]]


def changed(measurements: pl.LazyFrame, change: Change, launches: int = 99) -> Facts:
    """Measurements whose samples are others in the first launches."""
    frame = measurements.collect()
    samples = [
        change(np.array(row)).tolist() if launch < launches else row
        for launch, row in frame.select("launch", "samples_s").iter_rows()
    ]
    return Facts(frame.with_columns(pl.Series("samples_s", samples)).lazy())


def checked(before: Facts, now: Facts) -> CheckedRun:
    return against_former(now, before.flagged, 0.1, former_samples=tail_samples(before))


def grown(check: CheckedRun) -> list[CurveRatio]:
    assert check.comparison is not None
    return check.comparison.longer_tails


def random_share(seed: int) -> Change:
    random = np.random.default_rng(seed)
    return lambda samples: samples * np.where(random.random(len(samples)) < 0.01, 2.0, 1.0)


def slowest(samples: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    return np.where(samples >= np.quantile(samples, 0.99), 2 * samples, samples)


@pytest.fixture
def night(make_measurements: Make) -> Callable[..., pl.LazyFrame]:
    def make(seed: int, **asked: Any) -> pl.LazyFrame:
        return make_measurements(**{"samples": 100, "noise": 0.05, "seed": seed, **asked})

    return make


def test_planted_tails_are_found(night: Make) -> None:
    for number in range(10):
        before = Facts(night(number))
        change = random_share(number) if number % 2 else slowest
        check = checked(before, changed(night(100 + number), change))
        (tail,) = grown(check)
        assert 1 < tail.ratio.low < tail.ratio.high < 2.5
        assert 1.25 < tail.ratio.ratio < 2.1
        assert check.comparison is not None
        assert all(curve.worse == "not worse" for curve in check.comparison.curves)
        assert finding(check) == "regression"
        assert check.exit_code(strict=False) == 1
        assert "slowest 1 %" in check.worst_first()[0].name


NIGHTS, LAUNCHES = 10, 5


def nights_of_a_size(call: Callable[..., Any], out: Path, model: str) -> list[Facts]:
    """Nights of five launches of about 200 samples of a single size, on the model machine.

    All of its launches draw the same random numbers, its sizes others: with equal times for all of
    them each size stands for a launch.
    """
    sizes = ",".join(map(str, range(NIGHTS * LAUNCHES)))
    words = ["--transport", "model", "--pattern", "pingpong", "--ranks", "2", "--bytes", sizes]
    model = f"G=0,noise=0.05,{model}"
    assert call("run", *words, "--launches", "1", "--model", model, "--out", out).code == 0
    frame = Facts.of([Run.open(out)]).measurements.collect()
    frame = frame.with_columns(
        night=pl.col("bytes") // LAUNCHES,
        launch=(pl.col("bytes") % LAUNCHES).cast(frame["launch"].dtype),
        bytes=pl.lit(8, frame["bytes"].dtype),
    )
    return [Facts(night.lazy()) for night in frame.partition_by("night", include_key=False)]


def test_a_tail_of_a_single_size_is_found(call: Callable[..., Any], tmp_path: Path) -> None:
    before, same, longer = (
        nights_of_a_size(call, tmp_path / f"run{seed}", f"seed={seed},tail_fraction={share}")
        for seed, share in ((1, 0), (2, 0), (3, 0.01))
    )
    assert sum(bool(grown(checked(a, b))) for a, b in zip(before, longer, strict=True)) >= 9
    assert not any(grown(checked(a, b)) for a, b in zip(before, same, strict=True))
    assert not grown(checked(longer[0], before[0]))


def test_more_of_the_same_slow_samples_is_a_longer_tail(night: Make) -> None:
    """From 0.5 to 2 % of the samples of a single size; or 1 % that take four times as long."""

    def slowed(seed: int, every: int, factor: float = 2) -> Facts:
        frame = night(seed, sizes=(8,), samples=200)
        return changed(frame, lambda row: row * np.where(np.arange(len(row)) % every, 1, factor))

    assert grown(checked(slowed(1, 300), slowed(2, 50)))
    assert grown(checked(slowed(1, 100), slowed(2, 100, 4)))
    assert not grown(checked(slowed(1, 50), slowed(2, 50)))


def test_bursts_of_few_launches_are_no_tail(night: Make) -> None:
    """All slow samples of two launches follow each other."""

    def burst(row: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
        return row * np.where(abs(np.arange(len(row)) - 50) < 10, 3, 1)

    now = changed(night(2, sizes=(8,), samples=200), burst, launches=2)
    assert not grown(checked(Facts(night(1, sizes=(8,), samples=200)), now))


def test_nights_without_a_change_say_nothing(night: Make) -> None:
    sizes = (8, 1024, 65536)
    nights = [Facts(night(number, sizes=sizes)) for number in range(21)]
    alarms = [grown(checked(a, b)) for a, b in itertools.pairwise(nights)]
    assert sum(map(bool, alarms)) <= 1


def test_one_launch_that_hung_is_no_tail(night: Make) -> None:
    hung = changed(night(2), lambda samples: samples * np.where(samples.argsort() < 9, 50, 1), 1)
    assert not grown(checked(Facts(night(1)), hung))


def test_a_whole_curve_that_is_slower_has_the_same_tail(night: Make) -> None:
    check = checked(Facts(night(1)), changed(night(2), lambda samples: 1.5 * samples))
    assert not grown(check)
    assert finding(check) == "regression"


def test_a_faster_median_does_not_make_a_tail_longer(night: Make) -> None:
    """The slowest samples take as long as before."""
    before = changed(night(1), slowest)
    now = changed(night(2), lambda samples: np.where(slowest(samples) > samples, 2, 0.7) * samples)
    assert not grown(checked(before, now))


def test_more_samples_are_no_longer_tail(night: Make) -> None:
    """A rare slow sample is met more often by who looks longer."""
    few, many = night(1, samples=30), night(2, samples=300)
    before, now = changed(few, random_share(1)), changed(many, random_share(2))
    assert not grown(checked(before, now))
    assert not grown(checked(now, before))


def test_sizes_join_until_there_are_samples_enough() -> None:
    side = {0: (5, 300), 8: (5, 250), 16: (5, 600), 32: (2, 900), 64: (5, 100)}
    assert size_groups([side, side]) == [[0, 8], [16, 64]]
    assert size_groups([side, {0: (3, 499)}]) == []
    assert size_groups([side, {}]) == []


def test_exact_machines_have_no_tail(night: Make) -> None:
    exact = {"noise": 0.0, "launch_noise": 0.0}
    check = checked(Facts(night(1, **exact)), Facts(night(2, **exact)))
    assert check.comparison is not None
    assert [tail.verdict for tail in check.comparison.tails] == ["equal"]


def test_launches_may_lack_sizes(night: Make) -> None:
    """Each launch was cut short somewhere else."""
    whole = night(2).collect()
    cut = whole.filter(pl.col("launch") != pl.col("bytes") % 5)
    assert not grown(checked(Facts(night(1)), Facts(cut.lazy())))
    assert grown(checked(Facts(night(1)), changed(cut.lazy(), slowest)))
