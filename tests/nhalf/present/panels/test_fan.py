"""Panels of messages between one rank and many."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from tests.nhalf.present.panels.drawing import drawn, rows_of
from tests.nhalf.present.panels.points import QUIET

Make = Callable[..., pl.LazyFrame]


def test_fans_are_shown_per_message_of_a_process(make_measurements: Make) -> None:
    patterns = ("one-to-many", "many-to-one", "many-to-many")
    measured = make_measurements(
        patterns=patterns, sizes=(0, 5000), ranks=5, rank_s=[1e-6] * 5, **QUIET
    )
    rows = rows_of(drawn("fan", Facts(measured)))
    assert {row["kind"] for row in rows} == {"one to many", "many to one", "many to many"}
    assert {row["bytes"]: row["per_message"] for row in rows} == pytest.approx(
        {0: 0.25e-6, 5000: 0.5e-6}
    )


def test_the_time_of_the_one_rank_stands_beside_that_of_all(make_measurements: Make) -> None:
    measured = make_measurements(
        patterns=("one-to-many",), sizes=(5000,), ranks=5, rank_s=[2e-6] * 5,
        values=[{"name": "root_s", "value": 0.8e-6}], **QUIET,
    )  # fmt: skip
    rows = {row["kind"]: row for row in rows_of(drawn("fan", Facts(measured)))}
    assert rows["one to many"]["per_message"] == pytest.approx(0.5e-6)
    own = rows["one to many, the one's own time"]
    assert own["per_message"] == pytest.approx(0.2e-6)
    assert own["round"] == "800 ns"
