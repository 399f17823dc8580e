"""Calls that belong together, as columns go to the library and come back."""

from __future__ import annotations

import numpy as np
import polars as pl

from nhalf.facts.program.pairing import paired


def calls(rank: list[int], partner: list[int], start_s: list[float]) -> pl.DataFrame:
    same = {name: [0] * len(rank) for name in ("thread", "communicator", "tag")}
    numbers = pl.DataFrame({"rank": rank, "partner": partner, **same}).cast(pl.Int32)
    sizes = pl.Series("size_bytes", [8 * (place + 1) for place in range(len(rank))], pl.Int64)
    return numbers.with_columns(pl.Series("start_s", start_s, pl.Float64), sizes)


def test_no_calls_have_no_messages() -> None:
    pairing = paired(calls([], [], []), np.zeros(0, np.uint8))
    assert pairing is not None
    assert [len(column) for column in pairing] == [0] * 6


def test_a_send_is_its_receives() -> None:
    order = np.array([0, 0, 1], np.uint8)
    pairing = paired(calls([0, 0, 1], [1, 1, 0], [0.0, 1.0, 0.5]), order)
    assert pairing is not None
    assert pairing.number.tolist() == [0, 1, 0]
    assert pairing.message.tolist() == [0, -1, 0]
    assert (pairing.sent.tolist(), pairing.received.tolist()) == ([0], [2])
    assert (pairing.route.tolist(), pairing.routes) == ([0], [(0, 1, 8)])


def test_calls_out_of_order_are_not_paired() -> None:
    assert paired(calls([0, 0], [1, 1], [1.0, 0.0]), np.zeros(2, np.uint8)) is None
