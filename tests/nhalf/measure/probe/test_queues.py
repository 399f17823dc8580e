"""Queues, first messages and long series on the model machine: exactly what was put in."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.base.errors import NhalfError
from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import plain_subject
from nhalf.sites.placement import FREE
from tests.patience import patience_s

MACHINE = "o_s=1e-6,o_r=2e-6,g=0,L=5e-6,G=0,match_s=1e-8,connect_s=1e-3"


def said(ranks: int, *points: str) -> list[dict[str, Any]]:
    """The answers of one launch."""
    try:
        command, environment = plain_subject("model").launch(ranks, FREE, MACHINE)
    except NhalfError as error:
        pytest.skip(str(error))
    answers = []
    with Probe(command, environment, patience_s(20)) as probe:
        for number, point in enumerate(points):
            probe.send(f"id={number} samples_max=2 bytes=8 {point}")
            answers.append(probe.receive(patience_s(20), identity=str(number)))
    return answers


@pytest.mark.parametrize("ranks", [2, 5])
def test_a_message_takes_its_reception_and_what_it_passes(ranks: int) -> None:
    depths = (1, 2, 300)
    points = [
        f"pattern=drain axis.queue=unexpected axis.order={order} axis.depth={depth}"
        for order in ("in-order", "any", "reverse")
        for depth in depths
    ]
    answers = said(ranks, *points)
    assert all(answer["verified"] for answer in answers)
    times_s = [answer["samples_s"][0] for answer in answers]
    assert times_s[:6] == pytest.approx([2e-6] * 6)
    assert times_s[6:] == pytest.approx([2e-6 + 1e-8 * (depth - 1) / 2 for depth in depths])


def test_the_first_message_to_each_rank_connects_and_the_second_does_not() -> None:
    points = [
        f"pattern=first-message axis.partner={partner} axis.message={message}"
        for partner in (1, 2, 4)
        for message in ("first", "second")
    ]
    times_s = [answer["samples_s"][0] for answer in said(5, *points)]
    trip_s = 2 * (1e-6 + 5e-6 + 2e-6)
    assert times_s == pytest.approx([trip_s + 2e-3, trip_s] * 3)


def test_a_long_series_makes_its_calls_once_and_counts_them() -> None:
    points = [f"pattern=soak axis.of=pingpong axis.calls=100 axis.part={n}" for n in (2, 1, 2)]
    answers = said(2, *points)
    assert [answer["values"]["calls"] for answer in answers] == [100, 200, 100]
    assert all(answer["verified"] for answer in answers)
    assert all(answer["values"]["memory_bytes"] > 0 for answer in answers)
    for answer in answers:
        assert answer["samples_s"][0] == pytest.approx(2 * (1e-6 + 5e-6 + 2e-6))


def test_what_cannot_be_repeated_is_refused() -> None:
    for of in ("soak", "nothing"):
        [answer] = said(2, f"pattern=soak axis.of={of} axis.calls=10 axis.part=1")
        assert answer["nhalf"] == "error"
