"""Puts of less than a line beside those of a whole one."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.memory import partial_lines
from nhalf.present.findings import Finding
from nhalf.present.findings.memory import PartialLines

Make = Callable[..., pl.LazyFrame]
SUN_FIRE_LINK = {16: 35e-6, 63: 30e-6, 64: 0.6e-6, 128: 0.7e-6}
"""Qian 2004: below a line 35 us, a whole one 0.6."""


def puts(
    make: Make, time_s_by_size: Mapping[int, float], spread: float = 0.0, **more: Any
) -> pl.LazyFrame:
    """Puts with these times, of which launch 0, 1, ... takes 1, 1 + spread, ... as long."""
    given = {"patterns": ("put",), "launches": 3, "samples": 3, "transport": "rma", **more}
    frames = []
    for size, time_s in time_s_by_size.items():
        frame = make(sizes=(size,), noise=0.0, launch_noise=0.0, samples_s=[time_s] * 3, **given)
        factor = 1 + spread * pl.col("launch")
        frames.append(frame.with_columns(samples_s=pl.col("samples_s") * factor))
    return pl.concat(frames)


def found(*frames: pl.LazyFrame) -> list[Finding]:
    return list(PartialLines().find(Facts(pl.concat(frames))))


def test_less_than_a_line_costs_what_was_put_in(make_measurements: Make) -> None:
    (finding,) = found(puts(make_measurements, SUN_FIRE_LINK))
    assert finding.value == pytest.approx(35 / 0.6)
    assert (finding.low, finding.high) == pytest.approx((35 / 0.6, 35 / 0.6))
    assert finding.text == (
        "mpich, rma: a put of 16 B takes 35 µs, one of a whole cache line (64 B) 600 ns: less than "
        "a line costs 58x as much (interval 58.3 to 58.3)."
    )
    assert finding.remedy == "Pad short puts to whole lines of 64 B here."
    assert (finding.kind, finding.size_bytes) == ("partial-line", 16)


def test_a_drift_of_all_sizes_does_not_widen_the_ratio(make_measurements: Make) -> None:
    (case,) = partial_lines(Facts(puts(make_measurements, {8: 3e-6, 64: 1e-6}, spread=0.2)))
    assert case.ratio.low == pytest.approx(3) == pytest.approx(case.ratio.high)
    assert case.line.low < case.line.median < case.line.high


def test_the_worst_pattern_speaks_for_its_library(make_measurements: Make) -> None:
    (finding,) = found(
        puts(make_measurements, {8: 2e-6, 64: 1e-6}),
        puts(make_measurements, {8: 4e-6, 64: 1e-6}, patterns=("put-stream",)),
        puts(make_measurements, {8: 1e-6, 64: 1e-6}, patterns=("put-signal",)),
    )
    assert finding.pattern == "put-stream"
    assert finding.text.endswith("; so does put.")


@pytest.mark.parametrize(
    "time_s_by_size",
    [
        {},
        {64: 1e-6},
        {8: 9e-6},
        {8: 9e-6, 128: 1e-6},
        {8: 1e-6, 63: 1e-6, 64: 1e-6},
        {8: 1e-6, 64: 2e-6},
        {0: 9e-6, 64: 1e-6},
        {8: 1.09e-6, 64: 1e-6},
        {8: 0.0, 64: 1e-6},
    ],
    ids=str,
)
def test_nothing_dearer_is_no_finding(
    time_s_by_size: dict[int, float], make_measurements: Make
) -> None:
    pingpong = make_measurements(sizes=(8,))
    assert (
        found(pingpong, *[puts(make_measurements, time_s_by_size)] if time_s_by_size else []) == []
    )


def test_one_launch_gives_no_certainty(make_measurements: Make) -> None:
    assert found(puts(make_measurements, SUN_FIRE_LINK, launches=1)) == []


def test_the_dearest_of_many_equal_sizes_is_no_finding(make_measurements: Make) -> None:
    noisy = {"patterns": ("put",), "launches": 5, "samples": 5, "launch_noise": 0.3}
    findings = [
        finding
        for seed in range(20)
        for finding in found(
            make_measurements(sizes=(1, 8, 16, 32, 48, 63, 64), seed=seed, **noisy)
        )
    ]
    assert findings == []
