"""What is said of the fastest library says where it is not, over all patterns and sizes."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings import Finding, findings

Make = Callable[..., pl.LazyFrame]
TITLES = {"mpich": "MPICH", "openmpi": "Open MPI"}
BOTH = ("mpich", "openmpi")
QUIET = {"noise": 0.002, "launch_noise": 0.002}


def said(measurements: pl.LazyFrame, kind: str) -> list[Finding]:
    return [one for one in findings(Facts(measurements, TITLES)) if one.kind == kind]


def slower(
    measurements: pl.LazyFrame, mpi: str, pattern: str, first: int, last: int, factor: float
) -> pl.LazyFrame:
    """Facts in which one library needs `factor` times as long from the first to the last size."""
    where = (
        (pl.col("mpi") == mpi)
        & (pl.col("pattern") == pattern)
        & pl.col("bytes").is_between(first, last)
    )
    scaled = pl.col("samples_s").list.eval(pl.element() * factor)
    return measurements.with_columns(
        samples_s=pl.when(where).then(scaled).otherwise(pl.col("samples_s"))
    )


def test_a_lead_in_one_pattern_says_where_another_library_is_faster(
    make_measurements: Make,
) -> None:
    measured = make_measurements(
        libraries=BOTH, patterns=("pingpong", "stream", "exchange"), slower={"mpich": 1.5}, **QUIET
    )
    measured = slower(measured, "openmpi", "stream", 256, 1024, 2.7)
    [small] = said(measured, "fastest-small")
    assert small.text.startswith("Open MPI is fastest for small messages (pingpong, 0 B to 1 KiB).")
    assert "Except: in stream, 256 B to 1 KiB, MPICH is 1.80x as fast (interval 1.7" in small.text
    assert small.text.endswith("Also fastest in exchange, stream.")


def test_a_size_at_which_the_leader_of_a_pattern_is_behind_is_named(
    make_measurements: Make,
) -> None:
    measured = make_measurements(libraries=BOTH, slower={"mpich": 1.5}, **QUIET)
    [medium] = said(slower(measured, "openmpi", "pingpong", 8192, 8192, 3.0), "fastest-medium")
    assert "Except: in pingpong, 8 KiB, MPICH is 2.0x as fast (interval 1.99 to 2.0" in medium.text


def test_patterns_that_no_pingpong_leads_are_judged_too(make_measurements: Make) -> None:
    measured = make_measurements(libraries=BOTH, patterns=("pingpong", "stream"), **QUIET)
    measured = slower(measured, "openmpi", "stream", 0, 1024, 1.7)
    [small] = said(measured, "fastest-small")
    assert small.mpi == "mpich"
    assert small.pattern == "stream"
    assert small.text.startswith("MPICH is fastest for small messages (stream, 0 B to 1 KiB).")


def test_many_small_messages_are_promised_only_where_all_patterns_agree(
    make_measurements: Make,
) -> None:
    measured = make_measurements(
        libraries=BOTH, patterns=("pingpong", "stream"), slower={"mpich": 1.5}, **QUIET
    )
    [agreed] = said(measured, "smallest-message")
    assert agreed.remedy == "Programs that send many small messages run faster on Open MPI here."
    measured = slower(measured, "openmpi", "stream", 1, 1024, 3.0)
    [contradicted] = said(measured, "smallest-message")
    assert contradicted.remedy == ""


def test_pingpong_alone_promises_nothing_of_streams(make_measurements: Make) -> None:
    measured = make_measurements(libraries=BOTH, slower={"mpich": 1.5}, **QUIET)
    [alone] = said(measured, "smallest-message")
    assert alone.remedy == "Programs that wait for small messages run faster on Open MPI here."


@pytest.mark.sampled(1)
@pytest.mark.parametrize("seed", range(4))
def test_noise_makes_no_exception(seed: int, make_measurements: Make) -> None:
    measured = make_measurements(
        libraries=BOTH, patterns=("pingpong", "stream"), slower={"mpich": 1.3}, seed=seed
    )
    for finding in said(measured, "fastest-small"):
        assert "Except" not in finding.text


def test_operations_that_the_fastest_does_not_win_are_named(make_measurements: Make) -> None:
    measured = make_measurements(
        libraries=BOTH, patterns=("bcast", "reduce", "allreduce"), sizes=(8, 64),
        slower={"mpich": 2.0}, **QUIET,
    )  # fmt: skip
    [small] = said(slower(measured, "openmpi", "reduce", 0, 64, 5.0), "collectives-small")
    assert small.text.startswith(
        "Small collectives: Open MPI is fastest in 2 of 3 operations where libraries differ; MPICH "
        "is in reduce. Most in reduce: Open MPI takes 2.5x as long as MPICH, on average over 8 B "
        "to 64 B (interval "
    )
