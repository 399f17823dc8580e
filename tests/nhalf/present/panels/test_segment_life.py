"""Setup, transfer and teardown of segments whose steps take known times."""

from __future__ import annotations

from collections.abc import Callable

import altair as alt
import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.memory import part_times, step_times
from nhalf.present.findings.memory import SegmentLife as Finder
from nhalf.present.panels.sending import SegmentLife

Make = Callable[..., pl.LazyFrame]
TIMES_US = {"create": 20, "connect": 30, "put": 10, "get": 10, "fence": -0.001, "destroy": 30}


def lives(make: Make, sizes: tuple[int, ...] = (64, 4096)) -> Facts:
    frames = [
        make(
            libraries=("",), patterns=("primitive",), sizes=(size,), launches=2,
            axes=f"step={step}", samples_s=[time_us * 1e-6] * 3, transport="shm",
            values=[{"name": "clock_reading_s", "value": 2e-8}],
        )
        for size in sizes
        for step, time_us in TIMES_US.items()
    ]  # fmt: skip
    return Facts(pl.concat(frames))


def test_steps_have_their_order_and_their_share_of_the_whole(make_measurements: Make) -> None:
    steps = step_times(lives(make_measurements)).filter(bytes=64)
    assert steps["step"].to_list() == list(TIMES_US)
    assert steps["share"].to_list() == pytest.approx([0.2, 0.3, 0.1, 0.1, 0.0, 0.3])


def test_setup_transfer_and_teardown_add_up(make_measurements: Make) -> None:
    parts = part_times(lives(make_measurements)).filter(bytes=4096)
    assert dict(parts.select("part", "time_s").iter_rows()) == pytest.approx(
        {"setup": 50e-6, "transfer": 20e-6, "teardown": 30e-6}
    )


def test_the_finding_says_what_keeping_a_segment_saves(make_measurements: Make) -> None:
    (found,) = Finder().find(lives(make_measurements))
    assert "shm: of the life of a segment of 4 KiB (setup 50 µs, transfer 20 µs," in found.text
    assert "80 % is setup and teardown" in found.text


def test_a_bar_for_each_size_and_none_without_data(make_measurements: Make) -> None:
    chart = SegmentLife().render(lives(make_measurements))
    assert isinstance(chart, alt.TopLevelMixin)
    (rows,) = chart.to_dict()["datasets"].values()
    assert {row["size"] for row in rows} == {"64 B", "4 KiB"}
    assert SegmentLife().render(Facts(make_measurements(patterns=("pingpong",)))) is None
