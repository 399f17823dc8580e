# SPDX-License-Identifier: Apache-2.0
"""Each fact is computed when it is asked for and once; nothing else is computed meanwhile."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.facts import basis
from nhalf.facts.basis import once
from nhalf.facts.facts import Facts
from nhalf.present.findings import findings
from nhalf.store.run import Run
from nhalf.store.schema import MEASUREMENT_COLUMNS, VERSION

Make = Callable[..., pl.LazyFrame]

COMPUTED_BY = {
    "summary": (basis, "summarise"),
    "launches": (basis, "launch_medians"),
    "flagged": (basis, "with_flags"),
    "results": (basis, "results"),
    "models": ("nhalf.facts.fit", "fit_summary"),
    "loggp": ("nhalf.facts.fit", "fit_loggp"),
    "patterns": ("nhalf.facts.pattern_fit", "fit_patterns"),
    "extent": ("nhalf.facts.extent", "extent"),
    "overview": ("nhalf.facts.overview", "overview"),
    "patterns_overview": ("nhalf.facts.overview", "patterns_overview"),
    "doubts": ("nhalf.facts.doubts", "doubts"),
    "missed": ("nhalf.facts.precision", "missed"),
    "modes": ("nhalf.facts.modes", "mode_ratios"),
    "loads": ("nhalf.facts.pairs", "load_ratios"),
    "multicasts": ("nhalf.facts.multicast", "multicasts"),
    "traffic": ("nhalf.facts.traffic", "offered_and_accepted"),
}
"""Facts by the function that computes them."""


def stored(folder: Path, measurements: pl.LazyFrame) -> Run:
    """A run directory that holds the measurements."""
    run = Run.create(folder, {"environment": {"host": "here"}, "plan": {"precision": 0.1}})
    frame = measurements.collect().drop("run")
    frame.write_parquet(folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)})
    return run


def counted(monkeypatch: pytest.MonkeyPatch) -> dict[str, int]:
    """How often each of COMPUTED_BY was called since, by the name of the fact."""
    calls = dict.fromkeys(COMPUTED_BY, 0)

    def watch(fact: str, module: Any, name: str) -> None:
        original = getattr(module, name)

        def call(*given: Any) -> Any:
            calls[fact] += 1
            return original(*given)

        monkeypatch.setattr(module, name, call)

    for fact, (place, name) in COMPUTED_BY.items():
        watch(fact, importlib.import_module(place) if isinstance(place, str) else place, name)
    return calls


def test_a_fact_is_computed_once(monkeypatch: pytest.MonkeyPatch, make_measurements: Make) -> None:
    calls = counted(monkeypatch)
    facts = Facts(make_measurements(libraries=("a", "b")), environments={"run": {}})
    for _ in range(2):
        for fact in COMPUTED_BY:
            getattr(facts, fact)
        assert facts.machine is facts.machine
        assert facts.contests() is facts.contests("pingpong")
    assert calls == dict.fromkeys(COMPUTED_BY, 1)


def test_a_whole_report_computes_each_fact_at_most_once(
    monkeypatch: pytest.MonkeyPatch, make_measurements: Make
) -> None:
    from nhalf.present.report.page import page

    calls = counted(monkeypatch)
    facts = Facts(make_measurements(libraries=("a", "b")), environments={"run": {}})
    page(facts)
    findings(facts)
    assert max(calls.values()) == 1
    assert calls["summary"] == calls["launches"] == calls["models"] == 1
    assert calls["patterns"] == 0


def test_what_is_not_asked_for_costs_nothing(
    monkeypatch: pytest.MonkeyPatch, make_measurements: Make
) -> None:
    def unasked() -> dict[str, Any]:
        raise AssertionError("nobody asked for places")

    calls = counted(monkeypatch)
    facts = Facts(make_measurements(launches=2), find_places=unasked)
    assert not any(calls.values())
    assert facts.summary.height == 24
    assert {fact for fact, count in calls.items() if count} == {"summary"}
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


def test_functions_of_facts_may_be_kept_with_them(make_measurements: Make) -> None:
    asked = []

    @once
    def height(facts: Facts) -> int:
        asked.append(facts)
        return facts.summary.height

    first, second = (Facts(make_measurements(sizes=sizes)) for sizes in ((1,), (1, 2)))
    assert [height(first), height(first), height(second)] == [1, 1, 2]
    assert len(asked) == 2
    assert findings(first) is findings(first)


def test_given_facts_are_taken_and_others_follow_from_them(make_measurements: Make) -> None:
    facts = Facts(make_measurements(sizes=(1, 2, 4)), {"mpich": "MPICH"})
    assert facts.extent.points == 3
    fewer = facts.with_known(summary=facts.summary.head(1))
    assert fewer.extent.points == 1
    assert fewer.titles == facts.titles
    assert facts.extent.points == 3


def test_facts_of_some_points(make_measurements: Make) -> None:
    facts = Facts(make_measurements(libraries=("a", "b"), patterns=("pingpong", "exchange")))
    some = facts.restricted(mpi="b", pattern="")
    assert some.summary["mpi"].unique().to_list() == ["b"]
    assert some.summary["pattern"].n_unique() == 2
    assert some.contests() == []
    with pytest.raises(InputError, match="unknown library 'c'"):
        facts.restricted(mpi="c")


def test_several_runs_are_told_apart_and_make_no_machine(
    tmp_path: Path, make_measurements: Make
) -> None:
    runs = [stored(tmp_path / name, make_measurements(sizes=(1, 2, 4))) for name in ("x", "y")]
    facts = Facts.of(runs)
    assert list(facts.environments) == ["x", "y"]
    assert facts.environments["x"]["plan"] == {"precision": 0.1}
    assert facts.series_names == ["mpich, x", "mpich, y"]
    assert facts.extent.hosts == ("here",)
    with pytest.raises(InputError, match="x, y are several runs"):
        _ = facts.machine


def test_nothing_measured_is_no_error() -> None:
    facts = Facts(pl.LazyFrame(schema=MEASUREMENT_COLUMNS), environments={"run": {}})
    for fact in COMPUTED_BY:
        assert len(getattr(facts, fact)) == 0 if fact != "extent" else facts.extent.points == 0
    assert facts.sound.is_empty()
    assert facts.contests() == facts.series_names == facts.logp == []
    assert facts.extent.started is None
    with pytest.raises(InputError, match="run has no curve to fit"):
        _ = facts.machine


def test_a_damaged_store_is_told_where_it_is_read(tmp_path: Path, make_measurements: Make) -> None:
    run = stored(tmp_path / "run", make_measurements(sizes=(1, 2, 4)))
    (run.path / "measurements.parquet").write_bytes(b"PAR1 and nothing more")
    with pytest.raises(InputError, match="is damaged; remove it"):
        _ = Facts.of([run]).summary


def test_of_one_launch_there_is_no_interval_over_launches(make_measurements: Make) -> None:
    facts = Facts(make_measurements(libraries=("a", "b"), launches=1, slower={"b": 3.0}))
    assert facts.extent.launches == (1, 1)
    assert facts.extent.half_width_share is None
    assert facts.missed.is_empty()
    assert "one-launch" in {doubt.name for doubt in facts.doubts}
    (contest,) = facts.contests()
    assert contest.standing(contest.sizes()).behind == ()


def test_sound_points_have_rates_and_whole_intervals(make_measurements: Make) -> None:
    facts = Facts(make_measurements(sizes=(0, 5000), launches=1, noise=0.0, launch_noise=0.0))
    empty, full = facts.sound.to_dicts()
    assert empty["rate_Bps"] is None
    assert full["rate_Bps"] == pytest.approx(5000 / 2e-6)
    assert full["low_s"] <= full["median_s"] <= full["high_s"]
    assert full["rate_low_Bps"] == pytest.approx(5000 / full["high_s"])
