"""What a reader does with a report: sort, save, pick, link, print, by mouse and by keyboard."""

from __future__ import annotations

import base64
import re
from pathlib import Path

from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.ui import Select

from tests.nhalf.present.chromium import IN_BROWSER, show, wait_drawn

pytestmark = IN_BROWSER
LINES = """return [...document.querySelectorAll("#latency svg .mark-line path")]
    .map(path => path.getAttribute("d"))"""
KEEP_SAVED = """window.saved = [];
    URL.createObjectURL = blob => { blob.text().then(text => saved.push(text)); return "#"; };
    HTMLAnchorElement.prototype.click = function () { saved.push(this.download); };"""
NAMES = """return [...document.querySelectorAll("#libraries tbody th")].map(one => one.innerText)"""


def pick(browser: webdriver.Chrome, name: str, value: str) -> None:
    Select(browser.find_element(By.CSS_SELECTOR, f"#choices [name={name}]")).select_by_value(value)
    wait_drawn(browser, "light")


def title(browser: webdriver.Chrome, panel: str) -> str:
    """The caption inside a chart."""
    return browser.find_element(By.CSS_SELECTOR, f"#{panel} svg .role-title-text").text


def test_one_selector_is_for_all_charts_and_stays_in_the_address(
    browser: webdriver.Chrome, report: Path
) -> None:
    show(browser, report, width=1000)
    before = browser.execute_script(LINES)
    assert title(browser, "latency").startswith("pingpong ·")
    pick(browser, "shown", "stream")
    assert browser.execute_script(LINES) != before
    for panel in ("latency", "bandwidth"):
        assert title(browser, panel).startswith("stream ·")
    assert browser.find_elements(By.CSS_SELECTOR, "#latency .vega-bind") == []
    address = browser.current_url
    assert "shown=stream" in address
    browser.get("about:blank")
    browser.get(address)
    wait_drawn(browser, "light")
    assert title(browser, "bandwidth").startswith("stream ·")
    assert Select(browser.find_element(By.NAME, "shown")).first_selected_option.text == "stream"


def test_one_library_and_other_axes(browser: webdriver.Chrome, report: Path) -> None:
    show(browser, report, width=1000)
    before = browser.execute_script(LINES)
    assert len(before) == 3
    pick(browser, "library", "Open MPI 5.0.11 (wheel)")
    one = browser.execute_script(LINES)
    assert len(one) == 1
    pick(browser, "axes", "linear")
    assert browser.execute_script(LINES) != one
    assert browser.find_elements(By.CLASS_NAME, "broken") == []


def test_a_column_sorts_a_table_both_ways(browser: webdriver.Chrome, report: Path) -> None:
    show(browser, report, width=1000)
    head = browser.find_element(By.CSS_SELECTOR, "#libraries th:nth-child(2)")
    head.find_element(By.TAG_NAME, "button").click()
    rising = browser.execute_script(NAMES)
    assert head.get_attribute("aria-sort") == "ascending"
    head.find_element(By.TAG_NAME, "button").click()
    assert head.get_attribute("aria-sort") == "descending"
    assert browser.execute_script(NAMES) == rising[::-1]
    assert "alert" in rising[-1], "twice as slow as the others"


def test_tables_and_charts_are_saved_as_csv(browser: webdriver.Chrome, report: Path) -> None:
    show(browser, report, width=1000)
    browser.execute_script(KEEP_SAVED)
    for panel in ("libraries", "latency"):
        browser.find_element(By.CSS_SELECTOR, f"#{panel} button.csv").click()
    saved = browser.execute_async_script("setTimeout(() => arguments[0](saved), 50)")
    assert {"nhalf-libraries.csv", "nhalf-latency.csv"} <= set(saved)
    table, chart = (text.splitlines() for text in saved if "\n" in text)
    assert table[0].startswith("library,latency,n½")
    assert len(table) == 4
    assert chart[0].startswith("series,pattern,bytes")
    assert len(chart) > 20


def test_the_keyboard_reaches_everything(browser: webdriver.Chrome, report: Path) -> None:
    show(browser, report, width=1000)
    browser.find_element(By.TAG_NAME, "body").send_keys(Keys.TAB)
    assert browser.switch_to.active_element.text == "Skip to the findings"
    browser.switch_to.active_element.send_keys(Keys.ENTER)
    assert browser.current_url.endswith("#findings")
    sort = browser.find_element(By.CSS_SELECTOR, "#libraries th button")
    browser.execute_script("arguments[0].focus()", sort)
    outline = "return getComputedStyle(document.activeElement).outlineStyle"
    sort.send_keys(Keys.SPACE)
    assert sort.find_element(By.XPATH, "..").get_attribute("aria-sort") == "ascending"
    assert browser.execute_script(outline) == "solid"


def test_headings_link_to_themselves(browser: webdriver.Chrome, report: Path) -> None:
    show(browser, report, width=1000)
    browser.find_element(By.CSS_SELECTOR, "#latency .here-link").send_keys(Keys.ENTER)
    assert browser.current_url.endswith("#latency")
    offset = "return document.querySelector('#latency').getBoundingClientRect().top"
    assert 0 <= browser.execute_script(offset) < 200


def test_print_has_every_chart_and_no_controls(browser: webdriver.Chrome, report: Path) -> None:
    show(browser, report, width=1000)
    printed = base64.b64decode(browser.print_page())
    assert printed.startswith(b"%PDF")
    pages = len(re.findall(rb"/Type\s*/Page\b", printed))
    assert 3 <= pages <= 10
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": "print"})
    shown = """return [...document.querySelectorAll(".bar, .csv, .words, .plot details")]
        .filter(one => one.checkVisibility()).length"""
    assert browser.execute_script(shown) == 0
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"media": ""})


def test_without_scripts_tables_and_words_stay(browser: webdriver.Chrome, report: Path) -> None:
    browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": True})
    try:
        browser.get(report.as_uri())
        assert "Open MPI" in browser.find_element(By.ID, "libraries").text
        assert not browser.find_element(By.ID, "choices").is_displayed()
        assert "JavaScript" in browser.find_element(By.TAG_NAME, "noscript").text
        assert browser.find_elements(By.CSS_SELECTOR, "#latency .words li") != []
    finally:
        browser.execute_cdp_cmd("Emulation.setScriptExecutionDisabled", {"value": False})
