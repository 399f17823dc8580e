# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: headless Chromium, opened from a file."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import polars as pl
import pytest
from selenium import webdriver

from nhalf.facts.facts import Facts
from nhalf.present.report.page import page
from tests.nhalf.present.chromium import IN_BROWSER, charts, ground, requests, show, wait_drawn
from tests.patience import patience_s

pytestmark = IN_BROWSER
AXE = """axe.run({exclude: [["svg.marks *"]]}, {resultTypes: ["violations"]}).then(
    arguments[0], error => arguments[0]({violations: [{id: String(error), nodes: []}]}))"""
"""The thousands of marks in charts take minutes; what they are called stands at the chart."""
EVIL = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def report(
    tmp_path_factory: pytest.TempPathFactory, make_measurements: Callable[..., pl.LazyFrame]
) -> Path:
    patterns = ("pingpong", "pingpong-ssend", "stream")
    measured = make_measurements(
        libraries=("a", "b", "c"),
        patterns=patterns,
        slower={"a": 2.0},
        launch_noise=0.05,
        advice=["unpinned"],
    )
    titles = {"a": EVIL, "b": "Open MPI 5.0.11 (wheel)", "c": "Intel MPI 2021.18.1 (wheel)"}
    environment = {"run": {"host": EVIL, "library": "A very long version text, " * 30}}
    data = Facts(measured, titles, environment)
    out = tmp_path_factory.mktemp("report") / "report.html"
    out.write_text(page(data), encoding="utf-8")
    return out


def test_every_panel_is_drawn_offline_without_a_word_of_complaint(
    browser: webdriver.Chrome, report: Path
) -> None:
    assert report.stat().st_size < 4e6
    show(browser, report, width=1200)
    drawn = charts(browser)
    names = ["latency", "bandwidth", "modes", "model", "launch-spread"]
    assert [chart["name"] for chart in drawn] == names
    for chart in drawn:
        assert chart["width"] > 600, chart
        assert chart["width"] <= chart["room"] + 1, chart
        assert chart["height"] > 200, chart
        assert chart["marks"] > 10, chart
    assert browser.get_log("browser") == []
    asked = requests(browser)
    assert report.as_uri() in asked
    # The browser's own pages (chrome:) are none of the report's.
    assert [url for url in asked if url.startswith(("http", "ws", "ftp"))] == []


def test_a_name_that_is_a_script_shows_as_text(browser: webdriver.Chrome, report: Path) -> None:
    show(browser, report, width=1200)
    assert EVIL in browser.find_element("tag name", "h1").text
    assert EVIL in browser.find_element("id", "libraries").text
    assert EVIL in next(chart["text"] for chart in charts(browser) if chart["name"] == "latency")


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_phone_shows_all_without_scrolling_sideways(
    browser: webdriver.Chrome, report: Path, scheme: str
) -> None:
    show(browser, report, width=390, scheme=scheme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 390
    for chart in charts(browser):
        assert 200 < chart["width"] <= chart["room"] + 1, chart
    assert browser.get_log("browser") == []


def test_dark_is_dark_and_the_button_turns_the_light_on(
    browser: webdriver.Chrome, report: Path
) -> None:
    show(browser, report, width=1000, scheme="light")
    assert ground(browser) > 600
    show(browser, report, width=1000, scheme="dark")
    assert ground(browser) < 120
    label = "return getComputedStyle(document.querySelector('svg.marks text')).fill"
    dark_label = browser.execute_script(label)
    browser.find_element("id", "theme").click()
    wait_drawn(browser, "light")
    assert ground(browser) > 600
    assert browser.execute_script(label) != dark_label


def test_a_chosen_pattern_changes_the_chart(browser: webdriver.Chrome, report: Path) -> None:
    show(browser, report, width=1000)
    path = "return document.querySelector('#latency svg .mark-line path').getAttribute('d')"
    before = browser.execute_script(path)
    browser.execute_script("""const select = document.querySelector("#latency select");
        select.value = "pingpong-ssend"; select.dispatchEvent(new Event("input"));
        select.dispatchEvent(new Event("change"));""")
    deadline_s = time.monotonic() + patience_s(10)
    while time.monotonic() < deadline_s:
        if browser.execute_script(path) != before:
            return
        time.sleep(0.1)
    raise AssertionError("the chart did not follow its input")


def test_a_reader_without_eyes_gets_names_and_descriptions(
    browser: webdriver.Chrome, report: Path
) -> None:
    show(browser, report, width=1000)
    script = """return [...document.querySelectorAll("[role=graphics-document]")]
        .map(chart => chart.ariaLabel || "");"""
    labels = browser.execute_script(script)
    assert len(labels) == 5
    assert all(len(label) > 40 for label in labels), labels
    assert browser.find_element("tag name", "html").get_attribute("lang") == "en"
    assert len(browser.find_elements("tag name", "h1")) == 1
    assert len(browser.find_elements("css selector", "main, nav, footer")) == 3


@pytest.mark.slow
def test_axe_finds_no_violation_in_light_dark_and_on_a_phone(
    browser: webdriver.Chrome, report: Path
) -> None:
    axe = pytest.importorskip(
        "axe_core_python", reason="axe-core-python is not among the packages of the tests"
    )
    script = (Path(axe.__file__).parent / "axe.min.js").read_text(encoding="utf-8")
    for width, scheme in ((1200, "light"), (1200, "dark"), (360, "light")):
        show(browser, report, width=width, scheme=scheme)
        browser.execute_script(script)
        browser.set_script_timeout(patience_s(60))
        found = browser.execute_async_script(AXE)
        said = [
            (one["id"], [node["html"][:120] for node in one["nodes"]][:3])
            for one in found["violations"]
        ]
        assert said == [], (width, scheme)
        assert len(found["passes"]) > 15, "axe looked at nothing"
