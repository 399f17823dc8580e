"""The report of a traced program: every panel drawn in a browser, in light and dark, and alone."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver

from nhalf.facts.program.program import Program
from nhalf.present.program.panels.calls import TimeInMpi
from nhalf.present.report.page import page
from nhalf.present.report.sections import sections
from tests.nhalf.present.chromium import IN_BROWSER, charts, ground, requests, show
from tests.nhalf.traced_programs import program, sends_of, sent, stored
from tests.server import Ended

CHARTS = ["efficiencies", "matrix", "message-sizes", "time-in-mpi", "waiting", "over-time"]
EVIL = "<script>alert(1)</script>"


def example(ranks: int = 16) -> Program:
    neighbours = sends_of(ranks, lambda rank: [(rank + 1) % ranks, (rank - 1) % ranks], 100)
    rows: list[dict[str, Any]] = []
    for size_bytes in (8, 512, 4096, 65536):
        rows += sent(neighbours, size_bytes, time_s=0.05, waiting_s=0.02)
    usual = {"call": "MPI_Allreduce", "kind": "collective", "partner": -2, "size_bytes": 8}
    for rank in range(ranks):
        rows.append({**usual, "rank": rank, "count": 9, "time_s": 0.1, "waiting_s": 0.01 * rank})
    bins = [
        {"rank": rank, "kind": kind, "start_s": 0.01 * at, "width_s": 0.01, "count": number}
        for rank in range(ranks)
        for at in range(100)
        for kind, number in (("sent", 60 if at < 50 else 5), ("collective", 1))
    ]
    return program(ranks, rows, bins=bins, hosts=4)


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = example()
    made.trace.command.append(EVIL)
    out = tmp_path_factory.mktemp("report") / "report.html"
    out.write_text(page(made), encoding="utf-8")
    return out


@pytest.mark.sampled(3)
@pytest.mark.parametrize("ranks", [2, 3, 100, 300])
def test_every_panel_has_something_to_show(ranks: int) -> None:
    shown = sections(example(ranks))
    charts = [name for name in CHARTS if name != "matrix" or ranks > 2]
    assert [one.name for one in shown] == [*charts, "destinations", "collectives"]
    rows = str([one.spec for one in shown if one.name == "matrix"]).count("'measure'")
    assert rows < 2 * 3 * 64 * 4


def test_calls_of_equal_time_are_ordered_by_name() -> None:
    usual = {"kind": "collective", "partner": -2, "size_bytes": 8, "count": 1}
    names = ["Scan", "Bcast", "Gather", "Reduce", "Scatter", "Barrier", "Alltoall", "Exscan"]
    rows = [
        {**usual, "call": f"MPI_{name}", "rank": rank, "time_s": 0.1, "waiting_s": 0.0}
        for rank in range(2)
        for name in names
    ]
    chart = TimeInMpi().render(program(2, rows))
    assert chart is not None
    kinds = chart.to_dict()["encoding"]["color"]["scale"]["domain"]
    assert kinds == [*(f"MPI_{name}" for name in sorted(names)[:5]), "other calls"]


def test_a_single_size_of_two_ranks_is_a_sentence_and_no_chart() -> None:
    pair = program(2, sent({(0, 1): 10, (1, 0): 10}, 2048))
    assert not {"matrix", "message-sizes"} & {section.name for section in sections(pair)}
    text = "All messages are between ranks 0 and 1. All messages are of 2 KiB."
    assert text in page(pair).replace("\u00a0", " ")


def test_a_report_begins_with_the_share_in_mpi() -> None:
    text = page(example(4)).replace("\u00a0", " ")
    assert 'class="verdict"' in text
    assert re.search(r"\d+ % of the run is in MPI", text)


def test_an_empty_trace_has_a_page() -> None:
    assert sections(program(2)) == []
    assert "Nothing stands out" in page(program(2))


@pytest.mark.slow
def test_the_report_is_written_in_each_form(tmp_path: Path, call: Callable[..., Ended]) -> None:
    run = stored(example(4), tmp_path / "run")
    assert call("report", run).code == 0
    assert "Communication matrix" in (run / "report.html").read_text()
    assert call("report", run, "--format", "svg").code == 0
    names = {path.name for path in (run / "report-svg").iterdir()}
    charts = {*CHARTS, "matrix-messages", "over-time-bytes-per-second"}
    assert names == {*(f"{name}.svg" for name in charts), "destinations.csv", "collectives.csv"}
    picture = (run / "report-svg" / "matrix-messages.svg").read_text()
    assert "Communication matrix" in picture
    assert "messages · " in picture
    call("report", run, run).is_error(2, "trace", "one at a time")


class TestInBrowser:
    pytestmark = IN_BROWSER

    @pytest.mark.sampled(1)
    @pytest.mark.parametrize(("width", "scheme"), [(1200, "light"), (390, "dark")])
    def test_every_chart_is_drawn_without_complaint(
        self, browser: webdriver.Chrome, report: Path, width: int, scheme: str
    ) -> None:
        show(browser, report, width, scheme)
        drawn = charts(browser)
        assert [chart["name"] for chart in drawn] == CHARTS
        for chart in drawn:
            assert 200 < chart["width"] <= chart["room"] + 1, chart
            assert chart["height"] > 200, chart
            assert chart["marks"] >= 10, chart
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert (ground(browser) < 120) == (scheme == "dark")
        assert browser.get_log("browser") == []
        asked = [url for url in requests(browser) if url.startswith(("http", "ws", "ftp"))]
        assert asked == []

    def test_a_command_that_is_a_script_shows_as_text(
        self, browser: webdriver.Chrome, report: Path
    ) -> None:
        show(browser, report, 1200)
        assert EVIL in browser.find_element("tag name", "h1").text

    def test_the_matrix_follows_what_is_picked(
        self, browser: webdriver.Chrome, report: Path
    ) -> None:
        show(browser, report, 1200)
        labels = "return document.querySelector('#matrix svg').textContent"
        cells = """return [...document.querySelectorAll('#matrix svg .mark-rect path')]
            .map(cell => cell.getAttribute('d')).join()"""
        before = browser.execute_script(cells)
        assert "to rank" in browser.execute_script(labels)
        browser.execute_script("""const select = document.querySelectorAll("#matrix select")[1];
            select.value = "by host"; select.dispatchEvent(new Event("input"));
            select.dispatchEvent(new Event("change"));""")
        browser.implicitly_wait(1)
        assert browser.execute_async_script(
            "const done = arguments[0]; setTimeout(() => done((() => {"
            + cells
            + "})()), 500);"
        ) != before  # fmt: skip
