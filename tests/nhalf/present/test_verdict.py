# SPDX-License-Identifier: Apache-2.0
"""The first line of a report: whom to use, or that nobody is faster."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl

from nhalf.facts.facts import Facts
from nhalf.present.verdict import UNDECIDED, verdict

Make = Callable[..., pl.LazyFrame]
TITLES = {"a": "A MPI", "b": "B MPI"}


def test_the_faster_library_is_named(make_measurements: Make) -> None:
    measured = make_measurements(libraries=("a", "b"), slower={"a": 1.3}, launch_noise=0.005)
    said = verdict(Facts(measured, TITLES, {"run": {}}))
    assert said.startswith("Use B MPI: the fastest for all messages")
    assert said.endswith("Sure: all these intervals exclude a tie.")


def test_equal_libraries_are_not_told_apart(make_measurements: Make) -> None:
    measured = make_measurements(libraries=("a", "b"), seed=3)
    assert verdict(Facts(measured, TITLES, {"run": {}})) == UNDECIDED


def test_one_library_needs_no_choice(make_measurements: Make) -> None:
    assert verdict(Facts(make_measurements(libraries=("a",)), TITLES, {"run": {}})) == ""
