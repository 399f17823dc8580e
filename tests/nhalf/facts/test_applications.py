# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from nhalf.facts.applications import applications
from nhalf.facts.facts import Facts


@pytest.fixture
def facts(make_measurements: Callable[..., pl.LazyFrame]) -> Facts:
    """A kernel that takes 8 s on 2 ranks and 5 s on 4, beside a ping-pong."""
    given: dict[str, Any] = {"launches": 3, "samples": 2, "noise": 0.0, "launch_noise": 0.0}
    plain = make_measurements(libraries=("mpich",), sizes=[8], **given)
    runs = [
        plain.with_columns(
            pattern=pl.lit("npb-cg"),
            transport=pl.lit("npb-mpi"),
            axes=pl.lit("class=A"),
            ranks=pl.lit(ranks, pl.Int32),
            bytes=pl.lit(0, pl.Int64),
            samples_s=pl.lit([time_s, time_s]),
        )
        for ranks, time_s in ((4, 5.0), (2, 8.0))
    ]
    return Facts(pl.concat([plain, *runs]))


def test_speedup_is_against_the_fewest_ranks_as_if_they_were_perfect(facts: Facts) -> None:
    rows = applications(facts)
    assert [(row["ranks"], row["threads"]) for row in rows] == [(2, 1), (4, 1)]
    assert [row["speedup"] for row in rows] == pytest.approx([2.0, 3.2])
    assert [row["efficiency"] for row in rows] == pytest.approx([1.0, 0.8])
    assert {row["kernel"] for row in rows} == {"cg"}
    assert {row["class"] for row in rows} == {"A"}
