"""Messages beside puts: what is set beside what, with exact times."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import polars as pl
import pytest

from nhalf.results import results
from nhalf.results.one_sided import OneSided
from nhalf.statistics.summary import summarise

Make = Callable[..., pl.LazyFrame]
EXACT = {"noise": 0.0, "launch_noise": 0.0, "sizes": (8, 5000)}
ONE_WAY_S = (1e-6 + 8 / 5e9, 2e-6)


def rows_of(*measurements: pl.LazyFrame) -> list[dict[str, Any]]:
    measured = pl.concat(measurements)
    return results(measured, summarise(measured)).get("one_sided", [])


def layer(make: Make, transport: str, mpi: str, factors: dict[str, float]) -> pl.LazyFrame:
    """The patterns of a transport, by these factors slower than the synthetic message."""
    return pl.concat(
        make(
            libraries=(mpi,),
            patterns=(pattern,),
            transport=transport,
            slower={mpi: factor},
            **EXACT,
        )
        for pattern, factor in factors.items()
    )


def test_each_layer_has_its_messages_beside_its_puts(make_measurements: Make) -> None:
    rows = rows_of(
        layer(make_measurements, "ucx", "", {"pingpong": 1.0, "put-pingpong": 1.5}),
        layer(make_measurements, "shmq", "", {"pingpong": 1.0}),
        layer(
            make_measurements, "shm", "", {"pingpong": 9.0, "put-pingpong": 3.0, "put-signal": 0.5}
        ),
        layer(make_measurements, "mpi", "mpich", {"pingpong": 1.0}),
        layer(make_measurements, "mpi", "openmpi", {"pingpong": 2.0}),
        layer(make_measurements, "rma", "openmpi", {"pingpong": 1.0, "put-pingpong": 3.0}),
        layer(make_measurements, "ofi", "", {"pingpong": 1.0}),
        layer(make_measurements, "am", "", {"put-signal": 1.0}),
    )
    found = [(row["transport"], row["mpi"], row["messages"], row["bytes"]) for row in rows]
    assert found == [
        ("rma", "openmpi", "mpi", 8),
        ("rma", "openmpi", "mpi", 5000),
        ("shm", "", "shmq", 8),
        ("shm", "", "shmq", 5000),
        ("ucx", "", "ucx", 8),
        ("ucx", "", "ucx", 5000),
    ]
    assert [row["ratio"] for row in rows] == pytest.approx([1.5, 1.5, 0.5, 0.5, 1.5, 1.5])
    assert [row["two_sided_s"] for row in rows[2:4]] == pytest.approx(ONE_WAY_S)
    assert rows[2]["put_then_signal_s"] == pytest.approx(3 * ONE_WAY_S[0])
    assert rows[4]["put_signal_s"] is None
    assert msgspec.json.decode(msgspec.json.encode(rows)) == rows


def test_an_interval_holds_all_quotients_of_both(make_measurements: Make) -> None:
    noisy = {"libraries": ("",), "sizes": (8,), "transport": "ucx", "launch_noise": 0.05}
    (row,) = rows_of(
        make_measurements(patterns=("pingpong",), seed=1, **noisy),
        make_measurements(patterns=("put-signal",), seed=2, **noisy),
    )
    (low, high), (least, most) = row["put_signal_s_ci"], row["two_sided_s_ci"]
    assert row["ratio_ci"] == [low / most, high / least]
    alone = {**noisy, "launches": 1}
    (row,) = rows_of(
        make_measurements(patterns=("pingpong",), **alone),
        make_measurements(patterns=("put-signal",), **alone),
    )
    assert "ratio_ci" not in row


def test_other_places_and_runs_are_not_set_beside_each_other(make_measurements: Make) -> None:
    puts = {"libraries": ("",), "patterns": ("put-signal",), "transport": "ucx", **EXACT}
    for elsewhere in ({"run": "other"}, {"placement": "2x1"}):
        messages = make_measurements(**{**puts, "patterns": ("pingpong",)}, **elsewhere)
        assert rows_of(make_measurements(**puts), messages) == []


def test_a_row_is_a_line() -> None:
    row = {"bytes": 8, "messages": "shmq", "two_sided_s": 1e-6, "put_signal_s": 5e-7, "ratio": 0.5}
    assert OneSided().line(row) == (
        "size 8 B, messages of shmq, send, receive 1 µs, put with signal 500 ns, "
        "put, then signal –, put over message 0.50x"
    )
