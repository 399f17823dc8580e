"""Findings about collective operations, from measurements whose truth is known."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings import Finding, findings

Measurements = Callable[..., pl.LazyFrame]


def found(kind: str, *frames: pl.LazyFrame) -> list[Finding]:
    measurements = pl.concat(frames)
    data = Facts(measurements)
    return [finding for finding in findings(data) if finding.kind == kind]


def test_the_fastest_library_is_named_with_its_worst_rival(
    make_measurements: Measurements,
) -> None:
    frame = make_measurements(
        libraries=("fast", "slow"), patterns=("bcast", "allreduce"), sizes=(8, 64),
        slower={"slow": 3.0}, noise=0.001, launch_noise=0.001,
    )  # fmt: skip
    [finding] = found("collectives-small", frame)
    assert finding.text.startswith(
        "Small collectives: fast is fastest in 2 of 2 operations where libraries differ. Most in "
    )
    assert "3.0x as long as fast, on average over 8 B to 64 B (interval " in finding.text
    assert finding.value == pytest.approx(3.0, rel=0.01)
    assert finding.mpi == "fast"


def test_libraries_are_compared_at_equal_ranks(make_measurements: Measurements) -> None:
    """A is fastest in allreduce everywhere, and in bcast where there are few ranks."""
    quicker = {2: "a", 4: "a", 8: "b", 16: "b"}
    frames = [
        make_measurements(
            libraries=("a", "b"), patterns=(pattern,), sizes=(8, 64), ranks=ranks, noise=0.001,
            slower={other: 2.0 + (pattern == "bcast" and ranks == 16)}, launch_noise=0.001,
        )
        for ranks, best in quicker.items()
        for pattern, fastest in (("allreduce", "a"), ("bcast", best))
        for other in {"a", "b"} - {fastest}
    ]  # fmt: skip
    [finding] = found("collectives-small", *frames)
    assert finding.text.startswith(
        "Small collectives: a is fastest in allreduce, bcast (2 and 4 ranks); b is in bcast (8 and "
        "16 ranks). Most in bcast on 16 ranks: a takes 3.0x as long as b, on average over 8 B to "
    )


def test_equal_libraries_give_no_finding(make_measurements: Measurements) -> None:
    frame = make_measurements(libraries=("a", "b"), patterns=("bcast",), sizes=(8, 64))
    assert found("collectives-small", frame) == []


@pytest.mark.parametrize("factor", [0.5, 2.0])
def test_a_barrier_that_misleads_is_named(factor: float, make_measurements: Measurements) -> None:
    together = make_measurements(patterns=("bcast",), sizes=(8, 64), noise=0.001)
    barrier = make_measurements(
        patterns=("bcast",), sizes=(8, 64), noise=0.001, axes="start=barrier",
        slower={"mpich": factor},
    )  # fmt: skip
    [finding] = found("barrier-start", together, barrier)
    assert finding.value == pytest.approx(factor, rel=0.05)
    assert "2 of 2 points would be off" in finding.text


def test_a_barrier_that_changes_little_is_not(make_measurements: Measurements) -> None:
    together = make_measurements(patterns=("bcast",), sizes=(8, 64), noise=0.001)
    barrier = make_measurements(
        patterns=("bcast",), sizes=(8, 64), noise=0.001, axes="start=barrier",
        slower={"mpich": 1.05},
    )  # fmt: skip
    assert found("barrier-start", together, barrier) == []


def test_ranks_without_cores_of_their_own_say_nothing_about_libraries(
    make_measurements: Measurements,
) -> None:
    frame = make_measurements(
        libraries=("fast", "slow"), patterns=("bcast",), sizes=(8, 64),
        slower={"slow": 3.0}, noise=0.001, launch_noise=0.001, advice=["oversubscribed"],
    )  # fmt: skip
    assert found("collectives-small", frame) == []


def ways(make: Measurements, factors: dict[str, float], **more: object) -> list[pl.LazyFrame]:
    """A broadcast by several algorithms, each with its factor on the time."""
    given = {"patterns": ("bcast",), "sizes": (8, 64), "noise": 0.001, "launch_noise": 0.001}
    return [
        make(**given, algorithm=name, slower={"mpich": factor}, seed=place, **more)
        for place, (name, factor) in enumerate(factors.items())
    ]


def test_an_algorithm_that_beats_the_library_is_named(make_measurements: Measurements) -> None:
    frames = ways(make_measurements, {"native": 3.0, "chain": 1.5, "linear": 2.0, "binary": 4.0})
    [finding] = found("algorithm", *frames)
    assert finding.value == pytest.approx(2.0, rel=0.01)
    assert "mpich is slower than an algorithm on its own messages at 2 of 2 points" in finding.text
    assert "2.0x as long as chain" in finding.text


@pytest.mark.parametrize("factor", [0.5, 1.0, 1.05])
def test_one_that_is_no_faster_is_not(factor: float, make_measurements: Measurements) -> None:
    frames = ways(make_measurements, {"native": factor, "chain": 1.0})
    assert found("algorithm", *frames) == []
    assert found("algorithm", frames[1]) == []


def test_libraries_are_compared_by_their_own_algorithms(make_measurements: Measurements) -> None:
    more = {"libraries": ("fast", "slow")}
    own = ways(make_measurements, {"native": 1.0}, **more)
    others = [
        make_measurements(
            patterns=("bcast",), sizes=(8, 64), algorithm="chain", slower={"slow": 3.0}, **more
        )
    ]
    assert found("collectives-small", *own, *others) == []


@pytest.mark.parametrize(
    ("small_ratio", "words"),
    [
        (1.33, "slow takes 1.33x as long as fast at 8 B to 2.7x at 1 KiB."),
        (0.8, "slow takes 2.7x as long as fast at 1 KiB, but 0.80x at 8 B."),
    ],
)
def test_where_the_ratio_varies_both_ends_are_named(
    small_ratio: float, words: str, make_measurements: Measurements
) -> None:
    frames = [
        make_measurements(
            libraries=("fast", "slow"), patterns=("bcast",), sizes=(size,), slower={"slow": ratio},
            noise=0.001, launch_noise=0.001,
        )
        for size, ratio in ((8, small_ratio), (1024, 2.68))
    ]  # fmt: skip
    [finding] = found("collectives-small", pl.concat(frames))
    assert words in finding.text
    assert "average" not in finding.text
