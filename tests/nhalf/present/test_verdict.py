# SPDX-License-Identifier: Apache-2.0
"""The first line of a report: whom to use, or that nobody is faster."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from nhalf.facts.facts import Facts
from nhalf.facts.leads import Exemption
from nhalf.present.verdict import UNDECIDED, exception, verdict
from nhalf.statistics.intervals import Interval

Make = Callable[..., pl.LazyFrame]
TITLES = {"a": "A MPI", "b": "B MPI"}


def test_the_faster_library_is_named(make_measurements: Make) -> None:
    measured = make_measurements(libraries=("a", "b"), slower={"a": 1.3}, launch_noise=0.005)
    said = verdict(Facts(measured, TITLES, {"run": {}}))
    assert said.startswith("Use B MPI: the fastest for all messages")
    assert said.endswith("Sure: all these intervals exclude a tie.")


def test_a_tie_of_the_fastest_is_told(make_measurements: Make) -> None:
    names = ("a", "b", "c")
    measured = make_measurements(libraries=names, slower={"a": 1.3}, launch_noise=0.005)
    said = verdict(Facts(measured, {**TITLES, "c": "C MPI"}, {"run": {}}))
    assert "exclude a tie" not in said
    assert said.endswith("for all messages the fastest are too close to tell apart.")


def test_equal_libraries_are_not_told_apart(make_measurements: Make) -> None:
    measured = make_measurements(libraries=("a", "b"), seed=3)
    assert verdict(Facts(measured, TITLES, {"run": {}})) == UNDECIDED


def test_one_library_needs_no_choice(make_measurements: Make) -> None:
    assert verdict(Facts(make_measurements(libraries=("a",)), TITLES, {"run": {}})) == ""


def test_one_exception_is_no_plural() -> None:
    one = Exemption("stream", 2048, 8192, "A MPI", Interval(1.5, 1.4, 1.6))
    assert exception(one, 0) == "Except in stream, 2 KiB to 8 KiB, where A MPI is 1.50x as fast."
    assert exception(one, 1).endswith("as fast, and 1 more exception in the findings.")
    assert exception(one, 2).endswith("as fast, and 2 more exceptions in the findings.")
