"""Whether ping-ping is half of ping-pong."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings.messages import BothWaysFinder

Make = Callable[..., pl.LazyFrame]
QUIET = {"noise": 0.002, "launch_noise": 0.002}


def facts_of(make: Make, factor: float, **more: object) -> Facts:
    given = {**QUIET, **more}
    alone = make(patterns=("pingpong",), **given)
    both = make(patterns=("pingping",), slower={"mpich": factor}, seed=3, **given)
    return Facts(pl.concat([alone, both]), {"mpich": "MPICH 5"})


@pytest.mark.parametrize(
    ("factor", "said"),
    [
        (2.0, "moves 50 % of what ping-pong does in each direction: the two directions share the"),
        (1.3, "moves 77 % of what ping-pong does in each direction: the two directions share part"),
        (1.0, "the two directions do not disturb each other. For large messages (128 KiB to"),
    ],
)
def test_what_both_directions_share_is_judged(
    factor: float, said: str, make_measurements: Make
) -> None:
    (found,) = BothWaysFinder().find(facts_of(make_measurements, factor))
    assert found.text.startswith("MPICH 5: ")
    assert said in found.text
    assert found.low <= factor <= found.high


def test_noise_is_judged_neither_way(make_measurements: Make) -> None:
    facts = facts_of(make_measurements, 1.1, launch_noise=0.05)
    assert list(BothWaysFinder().find(facts)) == []


def test_without_both_patterns_nothing_is_said(make_measurements: Make) -> None:
    assert list(BothWaysFinder().find(Facts(make_measurements(patterns=("pingping",))))) == []
