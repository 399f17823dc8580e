"""A report of what was simulated says so, and nothing of launches and intervals."""

from __future__ import annotations

from collections.abc import Callable

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.report.page import page

Make = Callable[..., pl.LazyFrame]
HOST = {"run": {"host": "SGI Altix 3700 BX2 (simulated)"}}


def html(make: Make, *transports: str) -> str:
    measured = pl.concat(
        [
            make(libraries=[f"library-of-{name}"], transport=name, launches=1, samples=1)
            for name in transports
        ]
    )
    return page(Facts(measured, environments=HOST))


def test_it_is_marked(make_measurements: Make) -> None:
    text = html(make_measurements, "simulated")
    assert "Message performance of SGI Altix 3700 BX2 (simulated)" in text
    assert "1 machine · 1 traffic pattern" in text
    assert "simulated 14 November 2023" in text
    assert "Nothing here was measured" in text
    assert "measured in several launches" not in text


@pytest.mark.parametrize("transports", [("mpi",), ("simulated", "mpi")])
def test_what_was_measured_is_not(make_measurements: Make, transports: tuple[str, ...]) -> None:
    text = html(make_measurements, *transports)
    assert "Nothing here was measured" not in text
    assert "measured in several launches" in text
