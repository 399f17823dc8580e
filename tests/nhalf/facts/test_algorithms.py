"""Work between barriers, of measurements in which a barrier takes a known time."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import altair as alt
import polars as pl
import pytest

from nhalf.facts.algorithms import PATTERN, crossings
from nhalf.facts.facts import Facts
from nhalf.present.findings.collectives import Grain as GrainFinder
from nhalf.present.panels.algorithms import Grain

Make = Callable[..., pl.LazyFrame]
GRAINS_NS = (0, 1000, 4000, 16000, 64000, 256000)


def measured(make: Make, barriers_s: Mapping[str, float], launches: int = 3) -> Facts:
    """By algorithm, what its barrier takes after any work."""
    frames = [
        make(
            libraries=("mpich",), patterns=(PATTERN,), sizes=(0,), launches=[launch],
            algorithm=algorithm, axes=f"grain={grain}" if grain else "",
            samples_s=[grain * 1e-9 + barrier_s * (1 + launch / 100)] * 3,
        )
        for algorithm, barrier_s in barriers_s.items()
        for grain in GRAINS_NS
        for launch in range(launches)
    ]  # fmt: skip
    return Facts(pl.concat(frames, how="vertical_relaxed"))


def test_a_barrier_matters_up_to_nine_times_its_own_time(make_measurements: Make) -> None:
    """With work w and a barrier b, b is a tenth of the time where w = 9 b."""
    (one,) = crossings(measured(make_measurements, {"native": 1e-6, "tournament": 0.2e-6}))
    assert one.grain_s.median == pytest.approx(9e-6, rel=0.02)
    assert one.algorithm == "tournament"
    assert one.faster_s is not None
    assert one.faster_s.median == pytest.approx(1.8e-6, rel=0.02)


def test_a_slower_barrier_is_not_named(make_measurements: Make) -> None:
    (one,) = crossings(measured(make_measurements, {"native": 1e-6, "tournament": 3e-6}))
    assert one.faster_s is None


def test_what_does_not_cross_is_not_told(make_measurements: Make) -> None:
    assert not list(crossings(measured(make_measurements, {"native": 1e-3})))
    assert not list(crossings(measured(make_measurements, {"native": 1e-6}, launches=1)))


def test_a_launch_that_was_cut_short_does_not_hide_the_others(make_measurements: Make) -> None:
    whole = measured(make_measurements, {"native": 1e-6})
    short = (pl.col("launch") < 2) | (pl.col("axes") == "grain=1000")
    (one,) = crossings(Facts(whole.measurements.filter(short)))
    assert one.grain_s.median == pytest.approx(9e-6, rel=0.02)
    shorter = (pl.col("launch") < 1) | (pl.col("axes") == "grain=1000")
    assert not list(crossings(Facts(whole.measurements.filter(shorter))))


def test_the_panel_has_the_shares_and_the_finding_says_the_grain(make_measurements: Make) -> None:
    facts = measured(make_measurements, {"native": 1e-6, "tournament": 0.25e-6})
    chart = Grain().render(facts)
    assert isinstance(chart, alt.TopLevelMixin)
    (rows,) = chart.to_dict()["datasets"].values()
    shares = {(row["kind"], row["work"]): row["share"] for row in rows}
    assert shares["native", "1 µs"] == pytest.approx(0.5, rel=0.01)
    assert shares["tournament", "4 µs"] == pytest.approx(1 / 17, rel=0.02)
    (found,) = GrainFinder().find(facts)
    assert "more than 10 % of the time of 2 ranks where there is less than" in found.text
    assert "With tournament that is" in found.text
    assert Grain().render(Facts(make_measurements())) is None
