from __future__ import annotations

import json
import math
import re
from collections.abc import Callable
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.base import files
from nhalf.base.errors import InputError, MissingError
from nhalf.facts.facts import Facts
from nhalf.facts.overview import n_half, overview
from nhalf.present.report import write_report
from nhalf.present.report.images import write_images
from nhalf.present.report.page import page, script_json, script_text, tidy
from nhalf.present.report.sections import sections
from nhalf.store.collection import distinct
from nhalf.store.keys import VERSION
from nhalf.store.run import Run

Make = Callable[..., pl.LazyFrame]
EVIL = "</script><script>alert(1)</script><!--"


def stored(folder: Path, measurements: pl.LazyFrame, **description: Any) -> Run:
    """A run directory that holds the measurements."""
    run = Run.create(folder, {"environment": {"host": "here"}, "plan": {}, **description})
    frame = measurements.collect().drop("run")
    frame.write_parquet(folder / "measurements.parquet", metadata={"nhalf.schema": str(VERSION)})
    return run


def report_data(measurements: pl.LazyFrame, **more: Any) -> Facts:
    return Facts(measurements, **more)


class Tags(HTMLParser):
    """Counts elements, and keeps the text outside scripts and styles."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self._silent = False
        self.feed(html)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        self._silent = tag in {"script", "style"}

    def handle_endtag(self, tag: str) -> None:
        self._silent = False

    def handle_data(self, data: str) -> None:
        self.text += "" if self._silent else data


def test_page_shows_every_section_and_no_outside_reference(make_measurements: Make) -> None:
    data = report_data(make_measurements(libraries=("a", "b")), environments={"run": {"host": "h"}})
    html = page(data)
    parsed = Tags(html)
    names = [section.name for section in sections(data)]
    assert {"latency", "bandwidth", "model", "launch-spread", "environment"} <= set(names)
    ids = {attributes.get("id") for _, attributes in parsed.tags}
    assert set(names) | {"findings", "libraries"} <= ids
    for tag, attributes in parsed.tags:
        for name in ("src", "href"):
            target = attributes.get(name) or "#"
            assert target.startswith(("#", "data:")), (tag, target)
    assert not re.search(r"@import|url\((?!#)", html[: html.index("<body>")])


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    ("environment", "named"),
    [
        ({"host": "ctl"}, "of ctl"),
        ({"host": "ctl", "site": {"hosts": []}}, "of ctl"),
        ({"host": "ctl", "site": {"hosts": ["n1:4", "n2:4"]}}, "of n1, n2"),
        ({"site": {"hosts": [f"n{i}" for i in range(1, 8)]}}, "of n1, n2, n3, n4 and 3 more hosts"),
    ],
)
def test_title_names_the_hosts(
    environment: dict[str, Any], named: str, make_measurements: Make
) -> None:
    html = page(report_data(make_measurements(), environments={"run": environment}))
    assert f"Message performance {named}<" in html


def test_names_from_outside_stay_text(make_measurements: Make) -> None:
    measured = make_measurements(libraries=("a", "b"), slower={"a": 2.0})
    measured = measured.with_columns(placement=pl.lit(EVIL))
    data = report_data(
        measured, titles={"a": EVIL}, environments={"run": {"host": EVIL, EVIL: EVIL}}
    )
    html = page(data)
    clean = page(report_data(make_measurements(libraries=("a", "b"), slower={"a": 2.0})))
    scripts = [tag for tag, _ in Tags(html).tags if tag == "script"]
    # The environment is one table more, and no script: whatever was injected would be one.
    assert len(scripts) == len([tag for tag, _ in Tags(clean).tags if tag == "script"])
    assert EVIL in Tags(html).text
    assert "alert(1)</script>" not in html


@pytest.mark.parametrize("text", [EVIL, "a & b", "\u2028\u2029", "<!--", '"quotes"', "µ×½"])
def test_json_in_a_script_reads_back_and_cannot_end_it(text: str) -> None:
    written = script_json({"text": text, text: [1.5, None]})
    assert not set("<>&\u2028\u2029") & set(written)
    assert json.loads(written) == {"text": text, text: [1.5, None]}


def test_json_in_a_script_refuses_numbers_that_browsers_cannot_read() -> None:
    with pytest.raises(ValueError, match="JSON"):
        script_json(math.nan)


def test_script_source_cannot_end_its_element() -> None:
    written = script_text("a('</script>'); b('</SCRIPT >'); c('<!-- x')")
    assert "</script" not in written.lower()
    assert "<!--" not in written


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("needs 3.06 µs for 8 KiB", "needs 3.06\u00a0µs for 8\u00a0KiB"),
        ("costs 40 % (35 to 45 %)", "costs 40\u00a0% (35 to 45\u00a0%)"),
        ("5 GB/s, 0 B.", "5\u00a0GB/s, 0\u00a0B."),
        ("384 points, 2 Bytes, 3 seconds", "384 points, 2 Bytes, 3 seconds"),
    ],
)
def test_numbers_stay_with_their_units(text: str, kept: str) -> None:
    assert tidy(text) == kept


def test_an_option_stays_on_one_line_and_text_is_no_markup() -> None:
    kept = 'a &lt;b&gt; <span class="option">--like</span> RUN, x--y'
    assert tidy("a <b> --like RUN, x--y") == kept


def test_write_report_is_one_file_below_its_limit(tmp_path: Path, make_measurements: Make) -> None:
    run = stored(tmp_path / "run", make_measurements(libraries=("a", "b", "c", "d")))
    out = write_report(Facts.of([run]), tmp_path / "new" / "report.html")
    assert out.stat().st_size < 4e6
    assert [path.name for path in out.parent.iterdir()] == ["report.html"]


def test_samples_do_not_enter_the_report(make_measurements: Make) -> None:
    few, many = (
        len(page(report_data(make_measurements(samples=samples)))) for samples in (20, 5000)
    )
    assert abs(many - few) < 3000


def test_a_report_of_nothing_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no run"):
        Facts.of([])
    empty = Run.create(tmp_path / "empty", {})
    with pytest.raises(InputError, match="no finished point"):
        Facts.of([empty])


def test_place_that_cannot_be_written_is_missing_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(MissingError, match="cannot write"):
        files.write_text(tmp_path / "file" / "report.html", "x")
    (tmp_path / "folder").mkdir()
    with pytest.raises(MissingError, match="--out"):
        files.write_text(tmp_path / "folder", "x")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "folder"]


def test_runs_of_one_name_are_told_apart(tmp_path: Path, make_measurements: Make) -> None:
    runs = [
        stored(tmp_path / parent / "run", make_measurements(sizes=(1, 2))) for parent in ("a", "b")
    ]
    assert list(distinct([*runs, runs[0]])) == ["run", "b/run"]
    data = Facts.of(runs)
    assert data.summary["run"].unique().sort().to_list() == ["b/run", "run"]
    assert data.summary["launches"].to_list() == [5] * 4


def test_finished_and_interrupted_runs_go_together(tmp_path: Path, make_measurements: Make) -> None:
    measured = make_measurements(sizes=(1, 2), launches=2)
    finished = stored(tmp_path / "finished", measured)
    interrupted = Run.create(tmp_path / "interrupted", {})
    with interrupted.journal() as journal:
        for row in measured.collect().iter_rows(named=True):
            journal.append({"event": "point", **row})
    data = Facts.of([finished, interrupted])
    assert data.summary.group_by("run").len().sort("run").rows() == [
        ("finished", 2),
        ("interrupted", 2),
    ]


def test_pictures_come_from_the_same_panels(tmp_path: Path, make_measurements: Make) -> None:
    data = report_data(make_measurements(sizes=(0, 1, 1024)))
    charts = [section.name for section in sections(data) if section.spec]
    written = write_images(data, tmp_path / "svg", "svg")
    assert [path.stem for path in written if path.suffix == ".svg"] == charts
    assert {path.suffix for path in written} == {".svg", ".csv"}
    pictures = [path for path in written if path.suffix == ".svg"]
    assert all(path.read_bytes().lstrip().startswith(b"<svg") for path in pictures)
    (first, *_) = write_images(data, tmp_path / "png", "png")
    assert first.read_bytes().startswith(b"\x89PNG")


def test_overview_gives_back_what_was_put_in(make_measurements: Make) -> None:
    measured = make_measurements(noise=0.001, launch_noise=0.001)
    (entry,) = overview(report_data(measured))
    assert entry.latency_s == pytest.approx(1e-6, rel=0.01)
    assert entry.latency_low_s <= entry.latency_s <= entry.latency_high_s
    assert entry.peak_Bps == pytest.approx(5e9, rel=0.01)
    # T = t0 + n / r_inf reaches half of r_inf at t0 * r_inf = 5000 B (Hockney).
    assert entry.n_half_bytes == pytest.approx(5000, rel=0.05)
    assert entry.switches == ()


@pytest.mark.parametrize(
    ("sizes", "rates", "expected"),
    [
        ([], [], None),
        ([8], [1.0], None),
        ([8, 16], [6.0, 10.0], None),
        ([8, 16, 32], [5.0, 8.0, 10.0], 8),
        ([10, 1000], [1.0, 100.0], 500),
    ],
)
def test_n_half(sizes: list[int], rates: list[float], expected: float | None) -> None:
    found = n_half(sizes, rates)
    assert math.isnan(found) if expected is None else found == pytest.approx(expected)
