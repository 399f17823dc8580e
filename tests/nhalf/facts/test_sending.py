"""Queues and first messages: what they cost beside their standard, from made-up measurements."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.sending import first_messages, searched_queues
from nhalf.present.findings.sending import FirstMessages, Queues

Measurements = Callable[..., pl.LazyFrame]


def timed(make: Measurements, pattern: str, times_s: dict[str, float]) -> Facts:
    """Three launches of points by their axes."""
    frames = [
        make(
            patterns=(pattern,), sizes=(8,), launches=3, noise=0.0, launch_noise=0.0, axes=axes,
            samples_s=[time_s] * 3,
        )
        for axes, time_s in times_s.items()
    ]  # fmt: skip
    return Facts(pl.concat(frames))


def test_what_is_passed_in_reverse_order_is_half_of_the_queue(
    make_measurements: Measurements,
) -> None:
    facts = timed(
        make_measurements,
        "drain",
        {
            f"depth={depth},order={order},queue=unexpected": 1e-6
            + (order == "reverse") * 1e-8 * (depth - 1) / 2
            for depth in (1, 1001)
            for order in ("in-order", "reverse", "any")
        },
    )
    [cost] = searched_queues(facts)
    assert (cost.at, cost.queue, cost.size_bytes) == (1001, "unexpected", 8)
    assert cost.passed_s == pytest.approx(1e-8)
    assert cost.ratio.median == pytest.approx(6.0)
    [found] = Queues().find(facts)
    assert "each message that waits before it costs 10 ns" in found.text


@pytest.mark.parametrize("reverse_s", [1e-6, 0.5e-6])
def test_an_order_that_costs_nothing_is_no_news(
    make_measurements: Measurements, reverse_s: float
) -> None:
    times_s = {
        "depth=64,order=in-order,queue=posted": 1e-6,
        "depth=64,order=reverse,queue=posted": reverse_s,
    }
    assert searched_queues(timed(make_measurements, "drain", times_s)) == ()


def test_the_first_message_to_the_last_rank_is_told(make_measurements: Measurements) -> None:
    times_s = {
        f"message={message},partner={partner}": 1e-6 + (message == "first") * partner * 1e-6
        for partner in (1, 4)
        for message in ("first", "second")
    }
    facts = timed(make_measurements, "first-message", times_s)
    [cost] = first_messages(facts)
    assert (cost.at, cost.time_s, cost.standard_s) == (4, pytest.approx(5e-6), pytest.approx(1e-6))
    [found] = FirstMessages().find(facts)
    assert "the first message to rank 4 takes 5 µs" in found.text


def test_nothing_was_measured(make_measurements: Measurements) -> None:
    facts = Facts(make_measurements(sizes=(8,)))
    assert searched_queues(facts) == first_messages(facts) == ()
