"""A picture says what it shows, wherever it is taken, and all that can be shown is written."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.report.caption import choice_of
from nhalf.present.report.images import write_images
from nhalf.present.report.sections import RunsReport, sections

Make = Callable[..., pl.LazyFrame]
TITLES = {"mpich": "MPICH 5", "openmpi": "Open MPI 5"}


def facts_of(measured: pl.LazyFrame) -> Facts:
    return Facts(measured, TITLES, {"run": {"host": "node7"}})


def texts(svg: Path) -> str:
    return " ".join(re.findall(r">([^<>]+)<", svg.read_text()))


def test_every_pattern_of_every_panel_is_written_and_says_what_it_is(
    tmp_path: Path, make_measurements: Make
) -> None:
    measured = pl.concat(
        [
            make_measurements(
                patterns=("pingpong", "stream"), libraries=("mpich", "openmpi"),
                sizes=(0, 1, 1024), placement="cores",
            ),
            make_measurements(
                patterns=("bcast", "allreduce"), libraries=("mpich",), sizes=(8, 1024), ranks=8,
                placement="free", seed=2,
            ),
        ]
    )  # fmt: skip
    written = {path.name: path for path in write_images(facts_of(measured), tmp_path, "svg")}
    assert {"latency.svg", "latency-stream.svg", "bandwidth-stream.svg"} <= set(written)
    assert {"collectives.svg", "collectives-bcast.svg", "environment.csv"} <= set(written)
    stream = texts(written["latency-stream.svg"])
    assert "Latency stream · 2 ranks · cores · node7" in stream
    assert "MPICH 5" in stream
    assert "Open MPI 5" in stream
    assert "allreduce · 8 ranks · free · node7" in texts(written["collectives.svg"])
    assert "bcast · 8 ranks · free · node7" in texts(written["collectives-bcast.svg"])
    assert written["environment.csv"].read_text().startswith(",run\n")


def test_in_the_page_the_caption_follows_what_is_picked(make_measurements: Make) -> None:
    facts = facts_of(make_measurements(patterns=("pingpong", "stream"), sizes=(1, 1024)))
    (latency,) = (one for one in sections(facts) if one.name == "latency")
    assert latency.spec is not None
    expression = latency.spec["title"]["text"]["expr"]
    found = re.fullmatch(r"\((.*)\)\[shown\]", expression)
    assert found is not None
    assert json.loads(found[1]) == {
        "pingpong": "pingpong · 2 ranks · node7",
        "stream": "stream · 2 ranks · node7",
    }


@pytest.mark.parametrize("has_legend", [True, False])
def test_libraries_are_named_where_the_chart_does_not(
    has_legend: bool, make_measurements: Make
) -> None:
    rows = [{"series": "MPICH 5", "pattern": "pingpong"}]
    spec: dict[str, Any] = {"data": {"values": rows}, "layer": [{"mark": "line"}]}
    if has_legend:
        spec["layer"][0]["encoding"] = {"color": {"field": "series"}}
    facts = facts_of(make_measurements(sizes=(1, 8)))
    first, further = RunsReport(facts).caption(spec, (), None, "")
    assert first == "pingpong · 2 ranks · node7"
    assert further == ([] if has_legend else ["MPICH 5"])


def test_what_only_arranges_is_no_choice() -> None:
    bound = {"name": "ordered", "value": "a", "bind": {"options": ["a", "b"]}}
    assert choice_of({"params": [bound], "data": {"values": [{"series": "x"}]}}) is None
