from __future__ import annotations

import polars as pl
import pytest

from nhalf.facts.applications import (
    applications,
    growth,
    kernel_of,
    part_races,
    pattern_of,
    series_races,
    shape_races,
)
from nhalf.facts.facts import Facts
from tests.nhalf.applied import Ran, applied
from tests.nhalf.synthetic import build_measurements


def test_speedup_is_against_the_fewest_ranks_as_if_they_were_perfect() -> None:
    facts = applied({Ran("cg", workers=4): 5.0, Ran("cg", workers=2): 8.0})
    rows = applications(facts)
    assert [(row["ranks"], row["threads"]) for row in rows] == [(2, 1), (4, 1)]
    assert [row["speedup"] for row in rows] == pytest.approx([2.0, 3.2])
    assert [row["efficiency"] for row in rows] == pytest.approx([1.0, 0.8])
    assert {row["speedup_base"] for row in rows} == {2}
    assert {row["kernel"] for row in rows} == {"cg"}
    assert {row["class"] for row in rows} == {"A"}
    assert {row["series"] for row in rows} == {"MPICH"}


@pytest.mark.parametrize(("workers", "speedup"), [(1, 1.0), (2, None)])
def test_one_number_of_ranks_alone_has_no_speedup(workers: int, speedup: float | None) -> None:
    (row,) = applications(applied({Ran("cg", workers=workers): 5.0}))
    assert (row["speedup"], row["efficiency"]) == (speedup, speedup)


def test_only_what_a_run_calls_a_program_is_an_application() -> None:
    known = applied({Ran("cg"): 5.0})
    other = build_measurements(
        transport="some-network", axes="class=A", patterns=("npb-cg",), sizes=(0,)
    )
    facts = Facts(pl.concat([known.measurements, other]), known.titles, known.environments)
    assert len(applications(facts)) == 1
    assert applications(Facts(known.measurements)) == []


def test_threads_are_no_ranks() -> None:
    (row,) = applications(applied({Ran("cg", "", 4): 5.0}))
    assert (row["ranks"], row["threads"], row["program"], row["series"]) == (
        *(1, 4),
        *("openmp", "OpenMP"),
    )


def test_libraries_and_threads_race_in_the_same_launches() -> None:
    facts = applied(
        {
            Ran("cg", "mpich", 2): 4.0, Ran("cg", "openmpi", 2): 6.0, Ran("cg", "", 2): 3.0,
            Ran("ep", "mpich", 2): 4.0, Ran("ep", "openmpi", 2): 4.0,
        }
    )  # fmt: skip
    races = {(race.first, race.second): race for race in series_races(facts)}
    assert set(races) == {
        ("MPICH", "Open MPI"), ("MPICH", "OpenMP"), ("Open MPI", "OpenMP"),
    }  # fmt: skip
    ours = races["MPICH", "Open MPI"].reversed
    assert (ours.first, ours.second) == ("Open MPI", "MPICH")
    assert ours.ratios["cg.A"].median == pytest.approx(1.5)
    assert ours.ratios["ep.A"].median == pytest.approx(1.0)
    assert list(ours.wins()) == ["cg.A"]
    assert not races["MPICH", "Open MPI"].wins()


def test_shapes_race_on_as_many_ranks() -> None:
    facts = applied(
        {
            Ran("cg", workers=8, placement="1x8"): 6.0,
            Ran("cg", workers=8, placement="4x2"): 4.0,
            Ran("cg", workers=4, placement="1x4"): 9.0,
        }
    )
    (race,) = shape_races(facts)
    assert (race.first, race.second, race.place["workers"]) == ("1x8", "4x2", 8)
    assert race.ratios["cg.A"].median == pytest.approx(1.5)


def test_a_part_races_against_the_library_as_it_is() -> None:
    facts = applied({Ran("cg", "mpich", 2): 4.0, Ran("cg", "mpich+tournament", 2): 5.0})
    (race,) = part_races(facts)
    assert (race.first, race.second, race.place["library"]) == ("as it is", "tournament", "mpich")
    assert race.ratios["cg.A"].median == pytest.approx(0.8)
    assert not list(series_races(facts))


def test_growth_is_over_the_numbers_that_each_kernel_ran_on() -> None:
    facts = applied(
        {
            Ran("cg", workers=1): 8.0, Ran("cg", workers=4): 4.0, Ran("bt", workers=1): 8.0,
            Ran("bt", workers=9): 2.0, Ran("ep", workers=1): 5.0,
        }
    )  # fmt: skip
    found = {(race.first, race.second): race.ratios for race in growth(facts)}
    assert found["1", "4"]["cg.A"].median == pytest.approx(2)
    assert found["1", "9"]["bt.A"].median == pytest.approx(4)
    assert set(found) == {("1", "4"), ("1", "9")}


@pytest.mark.parametrize(
    ("pattern", "axes", "kernel"),
    [
        ("npb-cg", "class=A", "cg.A"),
        ("sdes", "access=cast", "cast.1024"),
        ("sdes", "access=for-all,keys=64", "for-all.64"),
    ],
)
def test_kernels_are_named_with_their_size(pattern: str, axes: str, kernel: str) -> None:
    assert kernel_of({"pattern": pattern, "axes": axes}) == kernel
    assert pattern_of(kernel) == pattern
