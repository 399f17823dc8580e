"""Every page of runs has a verdict, whatever was measured."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.report.sections import RunsReport
from nhalf.present.verdict import plain_verdict

Make = Callable[..., pl.LazyFrame]


@pytest.mark.parametrize(
    ("columns", "words"),
    [
        ({"libraries": ("mpich",)}, "mpich: "),
        ({"libraries": ("a", "b"), "patterns": ("bcast",), "slower": {"b": 2.0}}, "a is fastest"),
        ({"libraries": ("a",), "patterns": ("bcast",)}, "No difference or cost beyond"),
    ],
)
def test_a_page_has_a_verdict(make_measurements: Make, columns: dict[str, Any], words: str) -> None:
    facts = Facts(make_measurements(noise=0.001, launch_noise=0.001, **columns), {}, {"run": {}})
    assert words in plain_verdict(facts)
    assert RunsReport(facts).heading()["verdict"]


def test_a_map_of_pairs_has_one(make_pair_map: Make) -> None:
    facts = Facts(make_pair_map(["n1", "n1", "n2", "n2"]), {}, {"run": {}})
    assert plain_verdict(facts)
