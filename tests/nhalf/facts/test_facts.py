"""Facts are computed when they are needed; nothing else is computed meanwhile."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.facts import fact as mechanism
from nhalf.facts.contests import contests
from nhalf.facts.extent import extent
from nhalf.facts.facts import Facts
from nhalf.facts.multicast import multicasts
from nhalf.facts.overview import overview, patterns_overview
from nhalf.facts.pairs import load_ratios
from nhalf.facts.precision import missed, point_warnings, reach
from nhalf.facts.sending import mode_ratios
from nhalf.facts.series import logp_rows, series_names
from nhalf.facts.traffic import offered_and_accepted
from nhalf.store.keys import MEASUREMENT_COLUMNS, VERSION
from nhalf.store.run import Run

Make = Callable[..., pl.LazyFrame]


def stored(folder: Path, measurements: pl.LazyFrame) -> Run:
    """A run directory that holds the measurements."""
    run = Run.create(folder, {"environment": {"host": "here"}, "plan": {"precision": 0.1}})
    frame = measurements.collect().drop("run")
    frame.write_parquet(folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)})
    return run


def test_what_is_not_asked_for_costs_nothing(
    monkeypatch: pytest.MonkeyPatch, make_measurements: Make
) -> None:
    def unasked() -> dict[str, Any]:
        raise AssertionError("nobody asked for places")

    computed: list[str] = []
    compute = mechanism.compute

    def noted(function: Any, *given: Any) -> Any:
        computed.append(function.__name__)
        return compute(function, *given)

    monkeypatch.setattr(mechanism, "compute", noted)
    facts = Facts(make_measurements(launches=2), find_places=unasked)
    assert computed == []
    assert facts.summary.height == 24
    assert computed == ["summary"]
    assert facts.results == {}
    with pytest.raises(AssertionError, match="nobody asked"):
        _ = facts.places


def test_the_journal_is_read_for_places_only(tmp_path: Path, make_measurements: Make) -> None:
    run = stored(tmp_path / "run", make_measurements(sizes=(1, 2, 4), launches=2))
    facts = Facts.of([run])
    assert facts.summary.height == 3
    (run.path / "journal.jsonl").write_text("damaged\nonce more\n")
    with pytest.raises(InputError, match="journal"):
        _ = facts.places


def test_given_facts_are_taken_and_others_follow_from_them(make_measurements: Make) -> None:
    facts = Facts(make_measurements(sizes=(1, 2, 4)), {"mpich": "MPICH"})
    assert extent(facts).points == 3
    fewer = facts.with_known(summary=facts.summary.head(1))
    assert extent(fewer).points == 1
    assert fewer.titles == facts.titles
    assert extent(facts).points == 3


def test_facts_of_some_points(make_measurements: Make) -> None:
    facts = Facts(make_measurements(libraries=("a", "b"), patterns=("pingpong", "exchange")))
    some = facts.restricted(mpi="b", pattern="")
    assert some.summary["mpi"].unique().to_list() == ["b"]
    assert some.summary["pattern"].n_unique() == 2
    assert contests(some) == []
    with pytest.raises(InputError, match="unknown library 'c'"):
        facts.restricted(mpi="c")


def test_several_runs_are_told_apart_and_make_no_machine(
    tmp_path: Path, make_measurements: Make
) -> None:
    runs = [stored(tmp_path / name, make_measurements(sizes=(1, 2, 4))) for name in ("x", "y")]
    facts = Facts.of(runs)
    assert list(facts.environments) == ["x", "y"]
    assert facts.environments["x"]["plan"] == {"precision": 0.1}
    assert series_names(facts) == ["mpich, x", "mpich, y"]
    assert extent(facts).hosts == ("here",)
    with pytest.raises(InputError, match="x, y are several runs"):
        _ = facts.machine


def test_nothing_measured_is_no_error() -> None:
    facts = Facts(pl.LazyFrame(schema=MEASUREMENT_COLUMNS), environments={"run": {}})
    for frame in (facts.summary, facts.launches, facts.flagged, missed(facts), multicasts(facts)):
        assert frame.is_empty()
    for frame in (mode_ratios(facts), load_ratios(facts), offered_and_accepted(facts)):
        assert frame.is_empty()
    assert not (facts.models or facts.loggp or facts.patterns or facts.results)
    assert overview(facts) == patterns_overview(facts) == point_warnings(facts) == []
    assert extent(facts).points == 0
    assert facts.sound.is_empty()
    assert contests(facts) == series_names(facts) == logp_rows(facts) == []
    assert extent(facts).started is None
    with pytest.raises(InputError, match="run has no curve to fit"):
        _ = facts.machine


def test_a_damaged_store_is_told_where_it_is_read(tmp_path: Path, make_measurements: Make) -> None:
    run = stored(tmp_path / "run", make_measurements(sizes=(1, 2, 4)))
    (run.path / "measurements.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(InputError, match="is damaged; remove it"):
        _ = Facts.of([run]).summary


def test_the_typical_interval_is_the_same_in_all_sentences(make_measurements: Make) -> None:
    facts = Facts(make_measurements(sizes=(0, 8, 64, 4096), launch_noise=0.2, seed=4))
    reached = reach(facts)
    assert reached is not None
    assert extent(facts).half_width_share == reached.half_width_share > 0.1


def test_of_one_launch_there_is_no_interval_over_launches(make_measurements: Make) -> None:
    facts = Facts(make_measurements(libraries=("a", "b"), launches=1, slower={"b": 3.0}))
    assert extent(facts).launches == (1, 1)
    assert extent(facts).half_width_share is None
    assert missed(facts).is_empty()
    assert "one-launch" in {doubt.name for doubt in point_warnings(facts)}
    (contest,) = contests(facts)
    assert contest.standing(contest.sizes()).behind == ()


def test_sound_points_have_rates_and_whole_intervals(make_measurements: Make) -> None:
    facts = Facts(make_measurements(sizes=(0, 5000), launches=1, noise=0.0, launch_noise=0.0))
    empty, full = facts.sound.to_dicts()
    assert empty["rate_Bps"] is None
    assert full["rate_Bps"] == pytest.approx(5000 / 2e-6)
    assert full["low_s"] <= full["median_s"] <= full["high_s"]
    assert full["rate_low_Bps"] == pytest.approx(5000 / full["high_s"])
