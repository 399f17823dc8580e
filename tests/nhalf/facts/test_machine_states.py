"""Whether other processes kept more cores busy than before, so that what is slower is no change.

The states that a machine was in while it was measured, and what is said of them.
"""

from __future__ import annotations

from typing import Any

import polars as pl
import pytest

from nhalf.experiment.tune.bench import launch_times
from nhalf.facts.facts import Facts
from nhalf.facts.machine_states import busier, machine_states
from nhalf.present.findings.precision import MachineStatesFinder as MachineStatesSeen
from nhalf.present.findings.precision import TakenCores
from nhalf.present.terminal.summary import show_points
from nhalf.statistics.doubt import CERTAIN
from nhalf.store.run import Others
from tests.nhalf.synthetic import build_measurements


def beside(*cores: float) -> Facts:
    """Launches of two ranks on two cores, of which others took these."""
    launches = [Others("mpich", number, 2, taken, 2) for number, taken in enumerate(cores)]
    return Facts(build_measurements(launches=2), find_others=lambda: {"run": launches})


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([], []),
        ([0.0, 0.0], [0.1, 0.0]),
        ([1.0, 1.0], [0.0, 0.0]),
        ([1.0, 1.0], [1.2, 1.1]),
        ([], [1.0, 0.0, 0.0]),
    ],
    ids=["unknown", "idle", "idle now", "as busy", "few"],
)
def test_a_machine_that_is_no_busier_is_no_excuse(before: list[float], now: list[float]) -> None:
    assert busier(beside(*before), beside(*now)) is CERTAIN


def test_a_machine_that_is_busier_may_be_why() -> None:
    doubt = busier(beside(0.0, 0.0), beside(1.0, 0.9, 1.0))
    assert doubt.reason == (
        "other processes kept 1.0 of 2 cores busy, so that ranks had to share cores"
    )
    assert "idle" in doubt.remedy
    assert "busy, 1.0 before, so" in busier(beside(1.0), beside(2.0)).reason


NEAR, FAR = 55e-9, 290e-9


def without_flags(given: Facts, launches: list[int]) -> Facts:
    """A run of two states in which flags of some launches were missed."""
    measured = given.measurements.collect()
    missed = pl.col("launch").is_in(launches)
    nothing = pl.lit([], dtype=measured.schema["values"])
    values = pl.when(missed).then(nothing).otherwise("values")
    return Facts(measured.with_columns(values=values).lazy())


def facts(far: list[tuple[int, int]], **asked: Any) -> Facts:
    """Five launches of three sizes; those of `far` (size, launch) met a slow flag."""
    asked = {"sizes": (0, 8, 64), "placement": "cores", **asked}
    given = build_measurements(**asked).collect()
    slow = [(size, launch) in far for size, launch in given.select("bytes", "launch").iter_rows()]
    flags = [FAR if is_slow else NEAR for is_slow in slow]
    names = ("flag_after_s", "flag_before_s")
    values = [[{"name": name, "value": flag} for name in names] for flag in flags]
    kind = given.schema["values"]
    return Facts(given.with_columns(pl.Series("values", values, dtype=kind)).lazy())


def test_one_state_is_no_word_worth() -> None:
    assert machine_states(facts([])) == []
    assert list(MachineStatesSeen().find(facts([]))) == []
    assert machine_states(Facts(build_measurements())) == []


def test_states_have_their_shares() -> None:
    given = facts([(0, 1), (8, 1), (64, 1)])
    (found,) = machine_states(given)
    assert [one.flag_s for one in found.states] == pytest.approx([NEAR, FAR])
    assert [one.share for one in found.states] == pytest.approx([0.8, 0.2])
    assert (found.points, found.elsewhere) == (3, 0)
    (finding,) = MachineStatesSeen().find(given)
    assert finding.text == (
        "The machine was in 2 states with 2 ranks on cores: a flag between two cores took 55 ns in "
        "80 %, 290 ns in 20 % of the measurements. Values and intervals are for the first state."
    )
    assert given.launches["launch"].unique().sort().to_list() == [0, 2, 3, 4]
    assert given.flagged["launch"].n_unique() == 5


def test_points_that_hardly_met_the_first_state_are_counted() -> None:
    given = facts([(64, launch) for launch in range(4)])
    (finding,) = MachineStatesSeen().find(given)
    assert "but 1 of 3 points had too few launches in it and are for another" in finding.text
    assert finding.text.endswith("ignore steps next to them.")
    assert given.summary["state_s"].to_list() == pytest.approx([NEAR, NEAR, FAR])


def test_missed_flags_say_that_others_had_the_cores() -> None:
    assert list(TakenCores().find(facts([]))) == []
    assert list(TakenCores().find(Facts(build_measurements()))) == [], "no flag can be passed there"
    (finding,) = TakenCores().find(without_flags(facts([]), [1, 3]))
    assert finding.value == pytest.approx(0.4)
    assert "40 % of the measurements were disturbed by other processes" in finding.text


@pytest.mark.parametrize(("elsewhere", "sizes"), [(False, [0, 8]), (True, [0, 8, 64])])
def test_a_screening_keeps_what_its_only_launch_met_in_another_state(
    elsewhere: bool, sizes: list[int]
) -> None:
    given = facts([(64, 0)], launches=1)
    assert launch_times(given.measurements, elsewhere=elsewhere)["bytes"].to_list() == sizes


def test_a_point_says_in_what_state_it_was(capsys: pytest.CaptureFixture[str]) -> None:
    show_points(facts([(0, 1), (8, 1), (64, 1)]))
    assert capsys.readouterr().out.count("flag 55 ns in 80 % of launches") == 3


def test_some_points_of_a_run_have_the_values_that_they_have_among_all() -> None:
    """Most of one library's launches met the state in which few of the run were."""
    given = facts([(size, launch) for size in (0, 8, 64) for launch in (2, 3, 4)], libraries=("b",))
    other = facts([], libraries=("a",))
    whole = Facts(pl.concat([other.measurements, given.measurements]))
    of_library = whole.summary.filter(pl.col("mpi") == "b")
    assert of_library["state_s"].to_list() == pytest.approx([NEAR] * 3)
    for some in (whole.restricted(mpi="b"), whole.filtered(pl.col("mpi") == "b")):
        assert some.summary.equals(of_library)
        assert some.launches.equals(whole.launches.filter(pl.col("mpi") == "b"))
    assert given.summary["state_s"].to_list() == pytest.approx([FAR] * 3)
