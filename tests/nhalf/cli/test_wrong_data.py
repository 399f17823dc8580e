"""Wrong data are the first thing that every verb says about a run, and its exit code is 1."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.store.run import Run

Call = Callable[..., Any]
Make = Callable[..., pl.LazyFrame]
INTEL, MPICH = "intel-2021.19.0", "mpich-5.0.2"
TITLES = {INTEL: "Intel MPI 2021.19.0 (wheel)", MPICH: "MPICH 5.0.2 (wheel)"}
SIZES = (8, 64, 512, 1000, 4096, 5000, 32768)
LINE = "WRONG DATA: Intel MPI 2021.19.0, gather-persistent, 1000 B and 5000 B, 2 ranks"


def kept(folder: Path, measured: pl.LazyFrame) -> Path:
    run = Run.create(folder, {"titles": TITLES, "environment": {"host": "n1"}})
    events = measured.drop("run").collect().to_dicts()
    with run.journal() as journal:
        for event in events:
            journal.append({"event": "point", "subject": event["mpi"], **event})
    run.finish()
    return folder


def measured(make: Make, libraries: Sequence[str] = (INTEL, MPICH)) -> pl.LazyFrame:
    return make(
        libraries=libraries, patterns=("gather-persistent",), sizes=SIZES, launches=5, samples=3,
        launch_noise=0.001,
    )  # fmt: skip


def spoiled(points: pl.LazyFrame, sizes: Sequence[int] = (1000, 5000)) -> pl.LazyFrame:
    """The points with wrong data of one library at these sizes, without their samples."""
    is_wrong = (pl.col("mpi") == INTEL) & pl.col("bytes").is_in(list(sizes))
    samples = pl.when(is_wrong).then(pl.lit([], pl.List(pl.Float64))).otherwise("samples_s")
    return points.with_columns(verified=~is_wrong, samples_s=samples)


@pytest.fixture
def wrong(tmp_path: Path, make_measurements: Make) -> Path:
    return kept(tmp_path / "wrong", spoiled(measured(make_measurements)))


@pytest.fixture
def right(tmp_path: Path, make_measurements: Make) -> Path:
    return kept(tmp_path / "right", measured(make_measurements))


VERBS = {
    "show": ("show", "wrong"),
    "show a library": ("show", "wrong:intel"),
    "report": ("report", "wrong", "--out", "page.html"),
    "check itself": ("check", "wrong", "--against", "right"),
    "check against it": ("check", "right", "--against", "wrong"),
    "compare": ("compare", "right", "wrong"),
    "compare several": ("compare", "right", "wrong", "right"),
    "compare libraries": ("compare", "wrong"),
    "history": ("history", "right", "wrong"),
}


@pytest.mark.parametrize("words", VERBS.values(), ids=VERBS.keys())
@pytest.mark.sampled(4)
def test_it_is_said_first(call: Call, right: Path, wrong: Path, words: tuple[str, ...]) -> None:
    paths = {"right": str(right), "wrong": str(wrong), "wrong:intel": f"{wrong}:intel"}
    given = [paths.get(word, word) for word in words]
    ended = call(*given)
    assert ended.out.splitlines()[0].startswith(LINE), ended
    assert ended.code == 1, ended
    ended = call(*given, "--json")
    assert ended.code == 1, ended
    assert [curve["text"][: len(LINE)] for curve in json.loads(ended.out)["wrong_data"]] == [LINE]
    assert ended.err.startswith(LINE)


def test_what_is_not_asked_about_is_not_said(call: Call, wrong: Path) -> None:
    for words in (("show", f"{wrong}:mpich"), ("compare", f"{wrong}:mpich", f"{wrong}:mpich")):
        ended = call(*words)
        assert (ended.code, LINE in ended.out) == (0, False), ended


def test_json_keeps_the_points_without_times(call: Call, wrong: Path) -> None:
    points = json.loads(call("show", wrong, "--json").out)["points"]
    at = {(point["mpi"], point["bytes"]): point for point in points}
    assert len(at) == 2 * len(SIZES)
    for size in (1000, 5000):
        assert not at[INTEL, size]["verified"]
        assert at[INTEL, size]["median_s"] is at[INTEL, size]["ci_low_s"] is None
        assert "unverified" in at[INTEL, size]["advice"]
    assert at[INTEL, 8]["verified"]
    assert at[MPICH, 1000]["median_s"] > 0


def test_the_page_begins_with_it(call: Call, wrong: Path, tmp_path: Path) -> None:
    page = tmp_path / "page.html"
    call("report", wrong, "--out", page)
    main = page.read_text(encoding="utf-8").partition("<main")[2]
    assert main.index('class="alarm"') < main.index("<h1")
    assert LINE.replace(" B", "\u00a0B") in main


def test_the_page_of_a_history_begins_with_it(
    call: Call, right: Path, wrong: Path, tmp_path: Path
) -> None:
    page = tmp_path / "page.html"
    call("history", right, wrong, "--report", page)
    assert 'class="alarm"' in page.read_text(encoding="utf-8")


def test_a_check_counts_it_as_missed(call: Call, right: Path, wrong: Path) -> None:
    checked = json.loads(call("check", wrong, "--against", right, "--json").out)
    missed = {
        (row.get("mpi"), row.get("bytes"))
        for answer in checked["expectations"]
        for row in answer["points"]
        if row["verdict"] == "missed"
    }
    assert {(INTEL, 1000), (INTEL, 5000)} <= missed


@pytest.mark.sampled(3)
@pytest.mark.parametrize("verb", ["show", "report", "check", "compare", "history"])
def test_a_run_of_nothing_else(
    call: Call, tmp_path: Path, right: Path, make_measurements: Make, verb: str
) -> None:
    points = measured(make_measurements, (INTEL,))
    alone = kept(tmp_path / "alone", spoiled(points, SIZES))
    words = {
        "show": (alone,),
        "report": (alone,),
        "check": (alone, "--against", right),
        "compare": (right, alone),
        "history": (right, alone),
    }
    ended = call(verb, *words[verb])
    assert ended.code == 1, ended
    assert ended.out.startswith("WRONG DATA: Intel MPI 2021.19.0, gather-persistent, 7 sizes")
    assert "Traceback" not in ended.err
