"""The parts of the spread: launches, visits of one launch, and whether the cores were the same."""

from __future__ import annotations

import math
from collections.abc import Callable

import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.facts.facts import Facts
from nhalf.facts.precision import spread_parts
from nhalf.present.findings import findings
from nhalf.store.places import Place, Start, StartedLaunch

Make = Callable[..., pl.LazyFrame]
LAUNCH_LOGS = (-0.2, 0.0, 0.2)
VISIT_LOGS = (-0.03, 0.03)


def visited(
    make: Make, launch_logs: tuple[float, ...] = LAUNCH_LOGS, visits: tuple[float, ...] = VISIT_LOGS
) -> pl.LazyFrame:
    """Launches whose times differ by these logarithms, and so do their visits."""
    frame = make(launches=len(launch_logs), noise=0.0, launch_noise=0.0, sizes=(0, 8, 64))
    level = pl.col("launch").replace_strict(dict(enumerate(launch_logs)), return_dtype=pl.Float64)
    return pl.concat(
        frame.with_columns(pl.col("samples_s") * (level + visit).exp()) for visit in visits
    )


def placed(*cpus: list[int]) -> dict[str, dict[Start, list[StartedLaunch]]]:
    """Launches with their ranks on these cores, each bound to one."""
    placements = [[Place("n1", cpu, [cpu]) for cpu in launch] for launch in cpus]
    launches = [
        StartedLaunch("mpich", placement=placement, launch=number)
        for number, placement in enumerate(placements)
    ]
    return {"run": {("mpich", 2, ""): launches}}


def test_launches_and_visits_are_told_apart(make_measurements: Make) -> None:
    (parts,) = spread_parts(Facts(visited(make_measurements)))
    assert parts.visit_share == pytest.approx(math.sqrt(2) * 0.03)
    assert parts.launch_share == pytest.approx(math.sqrt(0.04 - 0.03**2))
    assert parts.same_cores is None


@pytest.mark.parametrize(
    ("launch_logs", "visits"),
    [
        (LAUNCH_LOGS, (0.0,)),
        ((0.0, 0.1), VISIT_LOGS),
        ((0.0,), VISIT_LOGS),
    ],
)
def test_too_little_shows_nothing(
    make_measurements: Make, launch_logs: tuple[float, ...], visits: tuple[float, ...]
) -> None:
    assert spread_parts(Facts(visited(make_measurements, launch_logs, visits))) == []


def test_equal_times_have_no_spread(make_measurements: Make) -> None:
    still = visited(make_measurements, (0.0, 0.0, 0.0), (0.0, 0.0))
    (parts,) = spread_parts(Facts(still))
    assert (parts.launch_share, parts.visit_share) == (0.0, 0.0)


@pytest.mark.parametrize(
    ("cpus", "same"),
    [(([0, 1], [0, 1], [0, 1]), True), (([0, 1], [2, 3], [0, 1]), False), (([0, 1],), None)],
)
def test_cores_are_the_same_or_not(
    make_measurements: Make, cpus: tuple[list[int], ...], same: bool | None
) -> None:
    measured = visited(make_measurements)
    (parts,) = spread_parts(Facts(measured, find_started=lambda: placed(*cpus)))
    assert parts.same_cores is same


@pytest.mark.parametrize(
    ("launch_logs", "visit_logs", "words"),
    [
        (LAUNCH_LOGS, VISIT_LOGS, "times stay for a launch"),
        ((-0.02, 0.0, 0.02), (-0.1, 0.1), "times differ as much within a launch"),
    ],
)
def test_a_finding_says_what_it_is_not(
    make_measurements: Make,
    launch_logs: tuple[float, ...],
    visit_logs: tuple[float, ...],
    words: str,
) -> None:
    measured = visited(make_measurements, launch_logs, visit_logs)
    facts = Facts(measured, find_started=lambda: placed([0, 1], [0, 1]))
    (finding,) = (finding for finding in findings(facts) if finding.kind == "launches-differ")
    assert words in finding.text
    assert "it is not the cores, which were the same in all launches" in finding.text


SLOW_LAUNCHES = (0.0, 0.1, 0.3, 0.2, 0.0, 0.3, 0.1, 0.25)


def side_by_side(make: Make, *launch_logs: tuple[float, ...]) -> Facts:
    """Libraries a, b, ... whose launches differ by these logarithms."""
    libraries = zip("ab", launch_logs, strict=False)
    return Facts(
        pl.concat(visited(make, logs).with_columns(mpi=pl.lit(mpi)) for mpi, logs in libraries)
    )


def test_libraries_that_are_slow_together_show_a_machine_that_changes(
    make_measurements: Make,
) -> None:
    slower = tuple(2 * log + 0.1 for log in SLOW_LAUNCHES)
    facts = side_by_side(make_measurements, SLOW_LAUNCHES, slower)
    assert [part.common_share for part in spread_parts(facts)] == [pytest.approx(1)] * 2
    (finding,) = (finding for finding in findings(facts) if finding.kind == "launches-differ")
    assert "were slow in the same launches (correlation 1.0)" in finding.text


@pytest.mark.parametrize(
    ("a", "b"),
    [
        (SLOW_LAUNCHES, SLOW_LAUNCHES[::-1]),
        (SLOW_LAUNCHES, tuple(-log for log in SLOW_LAUNCHES)),
        (SLOW_LAUNCHES[:7], SLOW_LAUNCHES[:7]),
        (SLOW_LAUNCHES, (0.0,) * 8),
    ],
    ids=["apart", "opposite", "few", "still"],
)
def test_libraries_that_are_slow_apart_show_no_such_change(
    make_measurements: Make, a: tuple[float, ...], b: tuple[float, ...]
) -> None:
    parts = spread_parts(side_by_side(make_measurements, a, b))
    assert [part.common_share for part in parts] == [None, None]


SIX = ([0, 1], [2, 3], [4, 5], [0, 1], [2, 3], [4, 5])


@pytest.mark.parametrize(
    ("launch_logs", "cpus", "low", "high", "words"),
    [
        ((0.0, 0.1, 0.3, 0.01, 0.12, 0.29), SIX, 0.93, 1.0, "100 % of the variance is theirs"),
        ((0.0, 0.3, 0.1, 0.3, 0.0, 0.2) * 6, SIX * 6, 0.0, 0.3, "it is not the cores, which were"),
        ((0.0, 0.3, 0.1, 0.1, 0.2, 0.15), SIX, 0.0, 1.0, "launches had different cores; times"),
    ],
    ids=["they are", "they are not", "too few"],
)
def test_cores_explain_a_part_of_the_spread(
    make_measurements: Make,
    launch_logs: tuple[float, ...],
    cpus: tuple[list[int], ...],
    low: float,
    high: float,
    words: str,
) -> None:
    measured = visited(make_measurements, launch_logs)
    facts = Facts(measured, find_started=lambda: placed(*cpus))
    (parts,) = spread_parts(facts)
    assert parts.cores_share is not None
    assert low <= parts.cores_share[0] <= parts.cores_share[1] <= high
    (finding,) = (finding for finding in findings(facts) if finding.kind == "launches-differ")
    assert words in finding.text


def test_cores_that_were_the_same_or_never_again_explain_nothing(make_measurements: Make) -> None:
    for cpus in (([0, 1],) * 3, ([0, 1], [1, 2], [2, 3])):
        facts = Facts(visited(make_measurements), find_started=lambda cpus=cpus: placed(*cpus))
        assert spread_parts(facts)[0].cores_share is None


def test_a_damaged_journal_hides_the_cores_alone(make_measurements: Make) -> None:
    def damaged() -> dict[str, dict[Start, list[StartedLaunch]]]:
        raise InputError("damaged")

    (parts,) = spread_parts(Facts(visited(make_measurements), find_started=damaged))
    assert parts.same_cores is None


def test_what_is_precise_needs_no_reason(make_measurements: Make) -> None:
    facts = Facts(visited(make_measurements, (0.0, 0.001, 0.002), (0.0, 0.001)))
    assert "launches-differ" not in {finding.kind for finding in findings(facts)}
