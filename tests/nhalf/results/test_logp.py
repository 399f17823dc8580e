"""The rows of LogP: what scripts, tables and lines get."""

from __future__ import annotations

from collections.abc import Callable

import msgspec
import polars as pl
import pytest

from nhalf.results import kinds, results
from nhalf.statistics.summary import summarise

Make = Callable[..., pl.LazyFrame]


def rows_of(*frames: pl.LazyFrame) -> list[dict[str, object]]:
    measurements = pl.concat(frames)
    return results(measurements, summarise(measurements)).get("logp", [])


def test_without_the_patterns_there_is_no_row(make_measurements: Make) -> None:
    assert rows_of(make_measurements()) == []


def test_each_subject_has_a_row_of_plain_values(make_logp: Make) -> None:
    rows = rows_of(make_logp(), make_logp(mpi="other", L=7e-6), make_logp(ranks=4, L=9e-6))
    found = {(row["mpi"], row["ranks"]): row["latency_s"] for row in rows}
    assert found == {
        ("mpich", 2): pytest.approx(5e-6 + 1e-9),
        ("mpich", 4): pytest.approx(9e-6 + 1e-9),
        ("other", 2): pytest.approx(7e-6 + 1e-9),
    }
    assert msgspec.json.decode(msgspec.json.encode(rows)) == rows
    assert set(rows[0]) >= {"run", "transport", "placement", "identifiable", "missing", "doubts"}


def test_values_have_intervals_where_there_are_several_launches(make_logp: Make) -> None:
    (row,) = rows_of(make_logp())
    assert row["send_overhead_s_ci"] == [1e-6, 1e-6]
    (row,) = rows_of(make_logp(launches=1))
    assert row["send_overhead_s"] == 1e-6
    assert row["send_overhead_s_ci"] is None
    assert row["identifiable"] is None


def test_sizes_have_their_own_values(make_logp: Make) -> None:
    (row,) = rows_of(make_logp())
    sizes = row["sizes"]
    assert isinstance(sizes, list)
    assert [size["bytes"] for size in sizes] == [0, 1, 4096, 65536]
    assert sizes[-1]["gap_s"] == pytest.approx(4e-6 + 65536e-9)
    assert sizes[-1]["gap_s_ci"] == pytest.approx([4e-6 + 65536e-9] * 2)


def test_what_did_not_arrive_as_sent_does_not_count(make_logp: Make) -> None:
    assert rows_of(make_logp(verified=False)) == []


def test_the_line_says_what_is_known(make_logp: Make) -> None:
    logp = kinds()["logp"]
    (row,) = rows_of(make_logp())
    assert logp.line(row).startswith("LogP RTT/2 8 µs ±0 %, L 5 µs ±0 %, o_s 1 µs ±0 %")
    (row,) = rows_of(make_logp(o_s=0.0, o_r=8e-6, L=0.0, G=0.0))
    assert "; L is indistinguishable from 0; G needs" in logp.line(row)
    (row,) = rows_of(make_logp().filter(pl.col("pattern") == "gap"))
    assert logp.line(row).startswith("no LogP: roundtrip of 0 B")
