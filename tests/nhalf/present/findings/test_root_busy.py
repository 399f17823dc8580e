"""The algorithm that completes first, and the one that frees the root first."""

from __future__ import annotations

import sys
from collections.abc import Callable

import polars as pl

from nhalf.facts.algorithms import freed_first
from nhalf.facts.facts import Facts
from nhalf.present.findings.collectives import RootBusy
from nhalf.present.panels import Table
from nhalf.present.panels.algorithms import RootBusy as Panel

Make = Callable[..., pl.LazyFrame]
QUIET = {"noise": 0.002, "launch_noise": 0.002}


def broadcast(make: Make, algorithm: str, slower: float, root_s: float) -> pl.LazyFrame:
    return make(
        patterns=("bcast",), sizes=(65536,), ranks=4, algorithm=algorithm,
        slower={"mpich": slower}, rank_s=[root_s, 9e-6, 9e-6, 9e-6], **QUIET,
    )  # fmt: skip


def test_an_algorithm_that_frees_the_root_sooner_is_named(make_measurements: Make) -> None:
    facts = Facts(
        pl.concat(
            [
                broadcast(make_measurements, "native", 1.0, 8e-6),
                broadcast(make_measurements, "chain", 1.5, 2e-6),
                broadcast(make_measurements, "linear", 2.0, 9e-6),
            ]
        )
    )
    (found,) = RootBusy().find(facts)
    assert "65536" not in found.text
    assert "For 64 KiB on 4 ranks the library's own algorithm completes first (14." in found.text
    assert "with chain the root is free after 2 µs, 4.0x sooner" in found.text
    table = Panel().render(facts)
    assert isinstance(table, Table)
    assert [row[3] for row in table.rows] == ["the library's own algorithm", "chain", "linear"]
    assert table.rows[1][5] == "2 µs"


def test_where_one_is_first_in_both_nothing_is_said(make_measurements: Make) -> None:
    facts = Facts(
        pl.concat(
            [
                broadcast(make_measurements, "native", 1.0, 2e-6),
                broadcast(make_measurements, "chain", 1.5, 8e-6),
            ]
        )
    )
    assert list(RootBusy().find(facts)) == []


def test_one_algorithm_is_no_choice(make_measurements: Make) -> None:
    facts = Facts(broadcast(make_measurements, "native", 1.0, 2e-6))
    assert Panel().render(facts) is None


def test_points_that_nobody_disputes_cost_nothing(make_measurements: Make) -> None:
    """By calls, not by time: a run may have a million points."""

    def calls(sizes: int) -> int:
        facts = Facts(make_measurements(patterns=("bcast",), sizes=range(8, 8 + sizes), ranks=2,
                                        rank_s=[2e-6, 9e-6], **QUIET))  # fmt: skip
        counted = [0]
        sys.setprofile(lambda *_: counted.__setitem__(0, counted[0] + 1))
        try:
            assert list(freed_first(facts)) == []
        finally:
            sys.setprofile(None)
        return counted[0]

    calls(2)
    assert calls(60) < calls(20) + 40
