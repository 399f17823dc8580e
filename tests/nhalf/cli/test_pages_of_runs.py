"""Whatever shows two runs says what they differ by, and no page takes the place of another one."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.store.run import Run

Call = Callable[..., Any]
Make = Callable[..., pl.LazyFrame]
MPICH, OPENMPI = "mpich-5.0.2", "openmpi-5.0.11"
SLOWER, SENTENCE = 1.286, "tuesday is slower than monday: pingpong, MPICH 5.0.2"
NOTHING = "Nothing stands out"


@pytest.fixture
def keep(tmp_path: Path, make_measurements: Make) -> Callable[..., Path]:
    def kept(name: str, slower: float = 1.0, day: int = 0, **columns: Any) -> Path:
        run = Run.create(
            tmp_path / name,
            {"titles": {MPICH: "MPICH 5.0.2 (wheel)"}, "environment": {"host": "n1"}},
        )
        given = {
            **{"libraries": (MPICH,), "slower": {MPICH: slower}, "seed": day, "launches": 6},
            **columns,
        }
        frame = make_measurements(samples=3, launch_noise=0.002, noise=0.002, **given)
        points = frame.with_columns(started_s=pl.col("started_s") + day * 86400.0)
        with run.journal() as journal:
            for event in points.drop("run").collect().to_dicts():
                journal.append({"event": "point", "subject": event["mpi"], **event})
        run.finish()
        return run.path

    return kept


@pytest.fixture
def monday(keep: Callable[..., Path]) -> Path:
    return keep("monday")


@pytest.fixture
def tuesday(keep: Callable[..., Path]) -> Path:
    return keep("tuesday", SLOWER, 1)


def findings_of(call: Call, *words: Any) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads(call("report", *words, "--json").out)["findings"]
    return [finding for finding in found if finding["kind"] == "run-change"]


def test_a_report_says_what_is_slower(call: Call, monday: Path, tuesday: Path) -> None:
    (finding,) = findings_of(call, monday, tuesday)
    assert finding["text"].startswith(SENTENCE)
    assert finding["value"] == pytest.approx(SLOWER, rel=0.02)
    assert finding["low"] > 1.2
    (back,) = findings_of(call, tuesday, monday)
    assert "monday is faster than tuesday" in back["text"]


def test_the_page_names_both_and_keeps_the_other_page(
    call: Call, monday: Path, tuesday: Path
) -> None:
    own = monday / "report.html"
    assert call("report", monday, "--out", own).code == 0
    before = own.read_bytes()
    path = Path(json.loads(call("report", monday, tuesday, "--json").out)["report"])
    assert (path.name, path.parent) == ("report-with-tuesday.html", monday)
    assert own.read_bytes() == before
    page = path.read_text(encoding="utf-8")
    assert SENTENCE in page
    assert NOTHING not in page
    assert "monday, tuesday: message performance of n1" in page.partition("</title>")[0]


def test_the_page_of_a_library_keeps_the_page_of_all(call: Call, monday: Path) -> None:
    path = Path(json.loads(call("report", f"{monday}:mpich", "--json").out)["report"])
    assert path.name == f"report-{MPICH}.html"


def test_equal_runs_are_called_equal_or_open(call: Call, monday: Path, keep: Any) -> None:
    (finding,) = findings_of(call, monday, keep("tuesday", 1.0, 1))
    assert "tuesday is as fast as monday" in finding["text"] or "is unclear" in finding["text"]
    (short,) = findings_of(call, monday, keep("short", 1.5, 2, launches=2))
    assert "Whether short is slower than monday is unclear (+50" in short["text"]
    assert "--launches" in short["remedy"]


def test_runs_of_nothing_in_common_are_not_compared(call: Call, monday: Path, keep: Any) -> None:
    other = keep("other", libraries=(OPENMPI,), patterns=("stream",))
    assert findings_of(call, monday, other) == []
    page = (monday / "report-with-other.html").read_text(encoding="utf-8")
    assert NOTHING not in page


def test_a_history_of_two_runs_says_it(
    call: Call, monday: Path, tuesday: Path, tmp_path: Path
) -> None:
    page = tmp_path / "h.html"
    ended = call("history", monday, tuesday, "--report", page)
    assert ended.out.startswith(SENTENCE)
    text = page.read_text(encoding="utf-8")
    assert SENTENCE in text
    assert NOTHING not in text


def test_one_run_alone_is_compared_with_nothing(call: Call, monday: Path) -> None:
    assert findings_of(call, monday) == []


@pytest.mark.parametrize(
    "words",
    [
        ("history", "monday", "tuesday", "--report"),
        ("report", "monday", "tuesday", "--out"),
        ("report", "tuesday", "--out"),
        ("report", "monday:mpich", "--out"),
        ("predict", "bcast", "--machine", "sp2-mpl", "--report"),
        ("compare", "sp2-mpl", "altix-bx2", "--report"),
    ],
)
@pytest.mark.sampled(3)
def test_no_page_takes_the_place_of_a_run_s_own(
    call: Call, monday: Path, tuesday: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    (monday / "report.html").write_text("mine")
    data = (monday / "run.json").read_bytes()
    (tmp_path / "link.html").symlink_to(monday / "report.html")
    for name in ("monday/report.html", "link.html"):
        ended = call(*words, name)
        assert (ended.code, f"{name} is the page of the run monday" in ended.err) == (2, True)
    assert call(*words, "monday/run.json").code == 2
    assert (monday / "report.html").read_text() == "mine"
    assert (monday / "run.json").read_bytes() == data


@pytest.mark.full
def test_runs_of_one_name_in_two_folders_have_two_pages(
    call: Call, monday: Path, keep: Callable[..., Path]
) -> None:
    names = set()
    for other in (keep("a/night"), keep("b/night")):
        names.add(Path(json.loads(call("report", monday, other, "--json").out)["report"]).name)
    assert names == {"report-with-a-night.html", "report-with-b-night.html"}
