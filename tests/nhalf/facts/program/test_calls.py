"""Calls that cost most: summed by their place before their sizes are told apart."""

from __future__ import annotations

from dataclasses import replace

import pytest

from nhalf.facts.program.calls import call_sites, calls_by_place, most_expensive, time_by_call
from nhalf.facts.program.program import Program
from nhalf.present.program.answer import answer_json, answer_lines, size_span
from tests.nhalf.traced_programs import frame, program

SIZES = [100_000 + 997 * number for number in range(200)]
PLACES = [{"site": 1, "file": "/src/sizes.c", "line": 7, "function": "main"},
          {"site": 2, "file": "/src/sizes.c", "line": 7, "function": "main"},
          {"site": 3, "file": "/src/sizes.c", "line": 9, "function": "main"}]  # fmt: skip


def of_many_sizes(placed: bool = True) -> Program:
    """Rank 0 sends messages of 200 sizes to rank 1, for 98 % of a second; a barrier takes 1 %."""
    rows = []
    for rank, call, kind in ((0, "MPI_Send", "sent"), (1, "MPI_Recv", "received")):
        for number, size_bytes in enumerate(SIZES):
            row = {"rank": rank, "call": call, "size_bytes": size_bytes, "count": 10}
            more = {"bytes": 10 * size_bytes, "time_s": 0.98 / 200, "site": 1 + number % 2}
            rows.append({**row, **more, "kind": kind, "partner": 1 - rank})
        barrier = {"call": "MPI_Barrier", "kind": "collective", "partner": -2, "site": 3}
        rows.append({**barrier, "rank": rank, "count": 100, "time_s": 0.01})
    made = program(2, [{name: row[name] for name in row if name != "site"} for row in rows])
    if not placed:
        return made
    by_site = [{key: row[key] for key in row if key not in ("kind", "partner")} for row in rows]
    return replace(made, sites=frame("sites", PLACES), call_sites=frame("call_sites", by_site))


@pytest.mark.parametrize("placed", [True, False])
def test_sizes_of_one_place_are_one_row(placed: bool) -> None:
    place, barrier = ("sizes.c:7", "sizes.c:9") if placed else ("", "")
    columns = ["place", "call", "least_bytes", "most_bytes", "ranks", "count"]
    rows = most_expensive(of_many_sizes(placed))
    assert rows.select(columns).rows() == [
        (place, "MPI_Recv", SIZES[0], SIZES[-1], 1, 2000),
        (place, "MPI_Send", SIZES[0], SIZES[-1], 1, 2000),
        (barrier, "MPI_Barrier", 0, 0, 2, 200),
    ]
    assert rows["share"].to_list() == pytest.approx([0.49, 0.49, 0.01])


def test_the_answer_names_the_place_with_the_sizes() -> None:
    made = of_many_sizes()
    last = answer_lines(made)[-1]
    assert last.startswith(
        "Most of the ranks' time in MPI: MPI_Recv of 98 to 291 KiB at sizes.c:7 49 % ("
    )
    assert "MPI_Send of 98 to 291 KiB at sizes.c:7 49 %" in last
    assert answer_json(made)["most_expensive"][0]["count"] == 2000


def test_what_no_place_is_known_of_has_a_row_of_its_own() -> None:
    made = of_many_sizes()
    some = replace(made, call_sites=made.call_sites.filter(made.call_sites["call"] != "MPI_Send"))
    rows = calls_by_place(some).select("call", "place", "count").rows()
    assert sorted(rows) == [
        ("MPI_Barrier", "sizes.c:9", 200),
        ("MPI_Recv", "sizes.c:7", 2000),
        ("MPI_Send", "", 2000),
    ]


def exchange(count: int, received: int = 1, received_bytes: int = 8) -> Program:
    """Both ranks call MPI_Sendrecv, of which the table has two rows."""
    rows = [
        {"rank": rank, "call": "MPI_Sendrecv", "kind": kind, "partner": partner, "size_bytes": size}
        | {"count": count, "bytes": size * count, "time_s": time_s}
        for rank in (0, 1)
        for kind, partner, size, time_s in (
            ("sent", 1 - rank, 8, 0.0),
            ("received", (1 - rank) * received, received_bytes, 0.1),
        )
    ]
    return program(2, rows)


@pytest.mark.parametrize("received", [1, -1])
def test_a_call_that_sends_and_receives_counts_once(received: int) -> None:
    made = exchange(300, received)
    rows = time_by_call(made).select("rank", "call", "kind", "count", "bytes", "time_s").rows()
    both = ("MPI_Sendrecv", "sent and received", 300, 4800, 0.1)
    assert rows == [(0, *both), (1, *both)]
    assert most_expensive(made).select("call", "count").rows() == [("MPI_Sendrecv", 600)]


@pytest.mark.parametrize(
    ("rows", "told"),
    [
        ([(8, 602, 0.1)], [(8, 301)]),
        ([(8, 301, 0.0), (4096, 301, 0.1)], [(4096, 301)]),
    ],
)
def test_at_its_place_it_counts_once_as_well(
    rows: list[tuple[int, int, float]], told: list[tuple[int, int]]
) -> None:
    at_sites = [
        {"rank": rank, "site": 1, "call": "MPI_Sendrecv"}
        | {"size_bytes": size_bytes, "count": count, "time_s": time_s}
        for rank in (0, 1)
        for size_bytes, count, time_s in rows
    ]
    sites, called = frame("sites", PLACES), frame("call_sites", at_sites)
    made = replace(exchange(301, 1, rows[-1][0]), sites=sites, call_sites=called)
    by_size = call_sites(made).select("size_bytes", "count").sort("size_bytes").rows()
    assert by_size == [(size_bytes, 2 * count) for size_bytes, count in told if count]
    assert most_expensive(made).select("place", "count").rows() == [("sizes.c:7", 602)]


@pytest.mark.parametrize(
    ("sizes", "words"),
    [
        ((100_000, 298_403), "98 to 291 KiB"),
        ((8, 4096), "8 B to 4 KiB"),
        ((0, 100), "0 to 100 B"),
        ((64, 64), "64 B"),
        ((1536, 4096), "1536 B to 4 KiB"),
    ],
)
def test_a_span_of_sizes_has_its_unit_once(sizes: tuple[int, int], words: str) -> None:
    assert size_span(*sizes) == words
