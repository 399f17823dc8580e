"""Operations beside others that load the network: ratios and tails that were put in."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.traffic import congested
from nhalf.present.findings.traffic import Congestion

Make = Callable[..., pl.LazyFrame]
QUIET_S = 5e-6


def victims(
    make: Make, load: str, factor: float, tail: float = 1.0, launches: int = 3, **more: object
) -> pl.LazyFrame:
    """An allreduce that takes `factor` times as long, and in 1 of 50 operations `tail` times."""
    axes = "victims=4" if load == "none" else f"load={load},victims=4"
    samples_s = [QUIET_S * factor * (tail if number % 50 == 7 else 1.0) for number in range(1000)]
    return make(
        patterns=("victim",), sizes=(8,), ranks=8, axes=f"{axes}", samples_s=samples_s,
        launches=launches, noise=0.0, **more,
    )  # fmt: skip


def told(frames: Sequence[pl.LazyFrame]) -> list[str]:
    return [finding.text for finding in Congestion().find(Facts(pl.concat(frames)))]


def test_ratio_and_tail_are_those_that_were_put_in(make_measurements: Make) -> None:
    frames = [
        victims(make_measurements, "none", 1.0),
        victims(make_measurements, "alltoall", 3.0, tail=8.0),
        victims(make_measurements, "incast", 1.05),
    ]
    alltoall, incast = congested(Facts(pl.concat(frames)))
    assert (alltoall.load, alltoall.of, alltoall.victims, alltoall.ranks) == (
        "alltoall", "allreduce", 4, 8,
    )  # fmt: skip
    assert alltoall.ratio.median == pytest.approx(3)
    assert alltoall.tail_ratio is not None
    assert alltoall.tail_ratio.median == pytest.approx(24)
    assert incast.ratio.median == pytest.approx(1.05)
    [finding] = Congestion().find(Facts(pl.concat(frames)))
    assert finding.text == (
        "mpich, 4 ranks of 8: allreduce of 8 B takes 3.0x as long beside "
        "alltoall of 4 KiB messages among the others; its slowest 1 % 24x."
    )
    assert (finding.kind, finding.size_bytes) == ("congestion", 8)


def test_what_was_not_measured_in_both_states_is_no_finding(make_measurements: Make) -> None:
    loaded = victims(make_measurements, "alltoall", 3.0)
    assert told([loaded]) == []
    assert told([victims(make_measurements, "none", 1.0)]) == []
    assert told([loaded, victims(make_measurements, "none", 1.0, libraries=("openmpi",))]) == []
    # Of launches those count that have both; one alone has no interval.
    assert told([loaded, victims(make_measurements, "none", 1.0, launches=1)]) == []
    assert told([make_measurements(sizes=(8,))]) == []


def test_too_few_operations_have_no_tail(make_measurements: Make) -> None:
    few = [
        victims(make_measurements, load, factor).with_columns(pl.col("samples_s").list.head(100))
        for load, factor in (("none", 1.0), ("incast", 2.0))
    ]
    [one] = congested(Facts(pl.concat(few)))
    assert one.tail_ratio is None
    assert "slowest" not in told(few)[0]
