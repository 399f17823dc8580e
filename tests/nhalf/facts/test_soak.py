"""Long series of calls: trends that are there, and none without one."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.soak import soaked, trend
from nhalf.present.findings import Finding
from nhalf.present.findings.sending import Soak

Measurements = Callable[..., pl.LazyFrame]
PARTS, CALLS = 20, 1000


def series(
    make: Measurements,
    memory: Callable[[int], float] = lambda calls: 1e7,
    descriptors: Callable[[int], float] = lambda calls: 20.0,
    time_s: Callable[[int], float] = lambda calls: 1e-6,
    parts: int = PARTS,
) -> Facts:
    """One launch, in parts, of which each has the values at its end."""
    frames = []
    for part in range(1, parts + 1):
        calls = part * CALLS
        values = {
            "memory_bytes": memory(calls), "descriptors": descriptors(calls), "calls": calls,
            "clocks_ratio": 1.0 + (part == 7) * 1e-3,
        }  # fmt: skip
        frames.append(
            make(
                patterns=("soak",), sizes=(8,), launches=1, samples_s=[time_s(calls)] * 3,
                axes=f"calls={CALLS},of=barrier,part={part}",
                values=[{"name": name, "value": float(value)} for name, value in values.items()],
            )
        )  # fmt: skip
    return Facts(pl.concat(frames))


def told(facts: Facts) -> Finding:
    [found] = Soak().find(facts)
    return found


def test_a_series_that_needs_no_more_and_no_more(make_measurements: Measurements) -> None:
    # What is taken once, at the beginning, is no growth.
    facts = series(make_measurements, memory=lambda calls: 1e7 + min(calls, 3000) * 100.0)
    [one] = soaked(facts)
    assert (one.calls, one.of, one.time_s) == (PARTS * CALLS, "barrier", pytest.approx(1e-6))
    assert one.memory_bytes.median == one.descriptors.median == 0
    assert one.clocks_ratio == pytest.approx(1.001)
    found = told(facts)
    assert found.kind == "soak"
    assert "20 000 calls of barrier" in found.text
    assert "do not grow; two clocks agree within 0.10 %" in found.text


def test_every_leak_is_told_with_what_a_call_adds(make_measurements: Measurements) -> None:
    found = told(series(make_measurements, memory=lambda calls: 1e7 + 48.0 * calls))
    assert found.kind == "soak-grows"
    assert "memory grows by 48 (48 to 48) bytes a call" in found.text
    found = told(series(make_measurements, descriptors=lambda calls: 20 + calls // 1000))
    assert "descriptors grow by 0.001" in found.text
    found = told(series(make_measurements, time_s=lambda calls: 1e-6 * (1 + calls / 100_000)))
    assert "the time of a call grows by" in found.text


def test_noise_is_no_trend(make_measurements: Measurements) -> None:
    random = np.random.default_rng(3)
    facts = series(
        make_measurements,
        memory=lambda calls: 1e7 + random.normal(0, 1e6),
        time_s=lambda calls: 1e-6 * random.lognormal(0, 0.2),
    )
    assert told(facts).kind == "soak"


def test_few_parts_have_no_trend(make_measurements: Measurements) -> None:
    assert soaked(series(make_measurements, parts=4)) == ()


def test_a_trend_is_exact_on_a_line_and_wide_where_neighbours_are_alike() -> None:
    calls = np.arange(1.0, 101.0)
    line = trend(calls, 5 + 3 * calls)
    assert (line.median, line.low, line.high) == pytest.approx((3, 3, 3))
    random = np.random.default_rng(1)
    walks = [np.cumsum(random.normal(size=100)) for _ in range(200)]
    false = sum(trend(calls, walk).low > 0 for walk in walks)
    assert false < 100
    noise = [random.normal(size=100) for _ in range(400)]
    assert sum(not trend(calls, amount).covers(0) for amount in noise) / 400 < 0.08
