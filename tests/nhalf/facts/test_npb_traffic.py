"""Closed forms beside the rows of applications."""

from __future__ import annotations

from nhalf.facts.npb_traffic import traffic_rows

ROW = {"app": "npb", "program": "mpi", "class": "S", "ranks": 4}


def test_totals_are_those_of_all_ranks() -> None:
    (row,) = traffic_rows([{**ROW, "kernel": "is"}] * 2)
    assert row == {
        **{"kernel": "is", "class": "S", "ranks": 4, "messages": 3, "bytes": 12},
        **{"messages_min": 0, "messages_max": 1},
        "calls": [
            {"call": "allreduce", "size_bytes": 2068, "count": 44},
            {"call": "alltoall", "size_bytes": 4, "count": 44},
            {"call": "alltoallv", "size_bytes": 65536, "count": 44},
            {"call": "send", "size_bytes": 4, "count": 3},
        ],
    }
    (row,) = traffic_rows([{**ROW, "kernel": "cg"}])
    assert (row["messages"], row["messages_min"], row["messages_max"]) == (6720, 1680, 1680)


def test_what_sends_nothing_has_no_row() -> None:
    others = [
        {**ROW, "kernel": "cg", "program": "openmp"},
        {**ROW, "kernel": "cg", "ranks": 1},
        {**ROW, "kernel": "cast", "app": "sdes"},
        {**ROW, "kernel": "xx"},
        {**ROW, "kernel": "cg", "class": "Q"},
    ]
    assert traffic_rows(others) == []
