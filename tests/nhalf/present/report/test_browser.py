"""The report in a real browser: headless Chromium, opened from a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium import webdriver

from tests.nhalf.present.chromium import IN_BROWSER, charts, ground, requests, show, wait_drawn
from tests.nhalf.present.report.conftest import EVIL

pytestmark = IN_BROWSER


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
@pytest.mark.sampled(1)
def test_a_phone_shows_all_without_scrolling_sideways(
    browser: webdriver.Chrome, report: Path, scheme: str
) -> None:
    show(browser, report, width=360, scheme=scheme)
    assert browser.execute_script("return document.documentElement.scrollWidth") <= 360
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
