"""Sweeps and exchanges on one grid have the same counts; their order tells them apart."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from nhalf.facts.program.program import Program
from nhalf.facts.program.shape.naming import communication_shape
from tests.nhalf.traced_programs import program, sends_of, sent

SIDE, PLANES = 4, 20


def neighbours(rank: int, sign: int) -> list[int]:
    row, column = divmod(rank, SIDE)
    places = [(row + sign, column), (row, column + sign)]
    return [a * SIDE + b for a, b in places if 0 <= a < SIDE and 0 <= b < SIDE]


def message(source: int, target: int, at_s: float) -> Iterator[dict[str, Any]]:
    send = {"call": "MPI_Send", "kind": "sent", "rank": source, "partner": target}
    taken = {"call": "MPI_Recv", "kind": "received", "rank": target, "partner": source}
    yield {**send, "start_s": at_s, "end_s": at_s + 0.1}
    yield {**taken, "start_s": at_s, "end_s": at_s + 0.2}


def sweeps() -> Iterator[dict[str, Any]]:
    """Down and up, plane by plane: a rank sends on when it has heard from those ahead."""
    for sweep, sign in ((0, 1), (1, -1), (2, 1), (3, -1)):
        for plane in range(PLANES):
            for rank in range(SIDE * SIDE):
                depth = sum(divmod(rank, SIDE)) if sign > 0 else 6 - sum(divmod(rank, SIDE))
                for target in neighbours(rank, sign):
                    yield from message(rank, target, 100.0 * sweep + plane + depth)


def exchanges() -> Iterator[dict[str, Any]]:
    for step in range(4 * PLANES):
        for rank in range(SIDE * SIDE):
            for target in neighbours(rank, 1) + neighbours(rank, -1):
                yield from message(rank, target, float(step))


def traced(rows: Iterator[dict[str, Any]]) -> Program:
    both = sends_of(SIDE * SIDE, lambda rank: neighbours(rank, 1) + neighbours(rank, -1))
    return program(SIDE * SIDE, sent(both), timeline=rows)


@pytest.mark.parametrize(
    ("rows", "name"),
    [(sweeps(), "wavefront"), (exchanges(), "2-D stencil"), (iter(()), "2-D stencil")],
)
def test_the_order_of_messages_tells_a_wavefront(rows: Iterator[dict[str, Any]], name: str) -> None:
    found = communication_shape(traced(rows))
    assert found.name == name
    assert "on 4 x 4 ranks" in found.words
