"""The spectrum of interruptions, and what it costs a message, from known ones."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import msgspec
import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings.precision import Interruptions
from nhalf.results import parts, results
from nhalf.results.interruptions import Interruptions as Spectrum
from nhalf.statistics.summary import summarise

Make = Callable[..., pl.LazyFrame]
TICK = {"count_10us": 250.0, "length_10us_s": 12e-6, "lost_10us_s": 3e-3}
DAEMON = {"count_1ms": 1.0, "length_1ms_s": 2e-3, "lost_1ms_s": 2e-3}
MESSAGE_S = 1e-6 + (1 << 20) / 5e9


def watched(make: Make, values: dict[str, float], **columns: Any) -> pl.LazyFrame:
    """A second of that, in every launch."""
    named = [{"name": name, "value": value} for name, value in sorted(values.items())]
    given = {"noise": 0.0, "launch_noise": 0.0, "launches": 3, **columns}
    return make(patterns=("interruptions",), sizes=(0,), values=named, **given)


def rows_of(measured: pl.LazyFrame) -> list[dict[str, Any]]:
    return results(measured, summarise(measured)).get("interruptions", [])


def test_each_length_has_a_row(make_measurements: Make) -> None:
    rows = rows_of(watched(make_measurements, {"watched_s": 1.0, **TICK, **DAEMON}))
    assert "interruptions" in parts()
    assert [(row["lengths"], row["length_s"], row["apart_s"]) for row in rows] == [
        ("10 to 100 µs", 12e-6, 4e-3),
        ("1 to 10 ms", 2e-3, 1.0),
    ]
    assert [row["share"] for row in rows] == pytest.approx([0.003, 0.002])
    assert rows[0]["share_ci"] == pytest.approx([0.003, 0.003])
    assert msgspec.json.decode(msgspec.json.encode(rows)) == rows


def test_launches_without_any_count_as_none_of_the_time(make_measurements: Make) -> None:
    measured = pl.concat(
        watched(
            make_measurements, {"watched_s": 1.0, **(TICK if launch else {})}, launches=[launch]
        )
        for launch in range(3)
    )
    (row,) = rows_of(measured)
    assert row["share_ci"] == [0, pytest.approx(0.003)]


def test_a_length_that_came_in_few_launches_says_so() -> None:
    (share,) = (column for column in Spectrum.columns if column.name == "share")
    assert share.cell({"share": 0.0}) == "in few launches"
    assert share.cell({"share": 0.003}) == "0.3 %"


@pytest.mark.parametrize("values", [{"watched_s": 1.0}, {"watched_s": 0.0, **TICK}, {}])
def test_nobody_interrupts(make_measurements: Make, values: dict[str, float]) -> None:
    assert rows_of(watched(make_measurements, values)) == []


def test_a_finding_says_what_they_cost_a_message(make_measurements: Make) -> None:
    quiet = {"noise": 0.0, "launch_noise": 0.0, "launches": 3}
    noisy = watched(make_measurements, {"watched_s": 1.0, **TICK})
    messages = make_measurements(sizes=(8, 1 << 20, 4 << 20), **quiet)
    (finding,) = Interruptions().find(Facts(pl.concat([noisy, messages])))
    assert finding.text == (
        "mpich, 2 ranks: others take rank 0's processor for 0.3 % of the time, most of it 12 µs "
        "long every 4 ms; a message of 1 MiB meets one in 5.3 % of all cases, and takes 0.3 % "
        "longer on average if a processor moves its bytes."
    )
    assert pytest.approx(0.053, abs=5e-4) == MESSAGE_S / 4e-3
    (alone,) = Interruptions().find(Facts(noisy))
    assert alone.text.endswith("every 4 ms.")


def test_little_noise_and_one_launch_are_no_finding(make_measurements: Make) -> None:
    little = {"watched_s": 1.0, **TICK, "lost_10us_s": 3e-4}
    assert not list(Interruptions().find(Facts(watched(make_measurements, little))))
    once = watched(make_measurements, {"watched_s": 1.0, **TICK}, launches=1)
    assert not list(Interruptions().find(Facts(once)))
