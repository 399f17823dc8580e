# SPDX-License-Identifier: Apache-2.0
"""The report in a real browser: headless Chromium, opened from a file."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from nhalf.facts.facts import Facts
from nhalf.present.report.page import page
from tests.patience import patience_s

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
EVIL = "<script>alert(1)</script>"
FLAGS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
FORGET = """if (location.protocol === "file:") { localStorage.clear(); sessionStorage.clear(); }"""

pytestmark = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER), reason="needs chromium and chromium-driver (apt install)"
    ),
]


@pytest.fixture(scope="module")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = str(CHROMIUM)
    for flag in (*FLAGS, f"--user-data-dir={tmp_path_factory.mktemp('profile')}"):
        options.add_argument(flag)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    driver = webdriver.Chrome(options=options, service=Service(str(DRIVER)))
    try:
        yield driver
    finally:
        driver.quit()


@pytest.fixture
def browser(chromium: webdriver.Chrome) -> Iterator[webdriver.Chrome]:
    """A tab that knows nothing of the tests before: no page, no storage, no complaint."""
    empty = chromium.current_window_handle
    chromium.switch_to.new_window("tab")
    for kind in ("browser", "performance"):
        chromium.get_log(kind)
    yield chromium
    chromium.execute_script(FORGET)
    chromium.close()
    chromium.switch_to.window(empty)


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


def show(browser: webdriver.Chrome, report: Path, width: int, scheme: str = "light") -> None:
    """Open the report at a width and wait until its charts are drawn."""
    device = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
    features = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", features)
    browser.get(report.as_uri())
    wait_drawn(browser, scheme)


def wait_drawn(browser: webdriver.Chrome, scheme: str) -> None:
    script = "return document.documentElement.dataset.drawn"
    deadline_s = time.monotonic() + patience_s(60)
    while time.monotonic() < deadline_s:
        if browser.execute_script(script) == scheme:
            return
        time.sleep(0.1)
    raise AssertionError(f"not drawn: {browser.get_log('browser')}")


def charts(browser: webdriver.Chrome) -> list[dict[str, Any]]:
    script = """return [...document.querySelectorAll("figure[data-panel]")].map(figure => {
        const svg = figure.querySelector("svg.marks"), plot = figure.querySelector(".plot");
        const box = svg ? svg.getBoundingClientRect() : {width: 0, height: 0};
        return {name: figure.dataset.panel, width: box.width, height: box.height,
                room: plot.clientWidth, text: svg ? svg.textContent : "",
                marks: svg ? svg.querySelectorAll("path").length : 0};
    });"""
    found: list[dict[str, Any]] = browser.execute_script(script)
    return found


def ground(browser: webdriver.Chrome) -> int:
    """How light the page's ground is, 0 to 765."""
    color = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in color[color.index("(") + 1 : -1].split(",")[:3])


def requests(browser: webdriver.Chrome) -> list[str]:
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]


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
