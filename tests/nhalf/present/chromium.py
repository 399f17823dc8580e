"""Pages in a real browser: headless Chromium, opened from a file."""

from __future__ import annotations

import json
import shutil
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver
from selenium.webdriver.chrome.service import Service

from tests.patience import patience_s

CHROMIUM, DRIVER = shutil.which("chromium"), shutil.which("chromedriver")
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

IN_BROWSER = [
    pytest.mark.browser,
    pytest.mark.skipif(
        not (CHROMIUM and DRIVER), reason="needs chromium and chromium-driver (apt install)"
    ),
]


@pytest.fixture(scope="session")
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


def show(browser: webdriver.Chrome, report: Path, width: int, scheme: str = "light") -> None:
    """Open the report at a width and wait until its charts are drawn."""
    device = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", device)
    wanted = {"prefers-color-scheme": scheme, "prefers-reduced-motion": "reduce"}
    features = [{"name": name, "value": value} for name, value in wanted.items()]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})
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
        const drawn = svg ? Number(svg.getAttribute("width")) : 0;
        return {name: figure.dataset.panel, width: drawn, height: box.height,
                room: plot.clientWidth, text: svg ? svg.textContent : "",
                marks: svg ? svg.querySelectorAll("path").length : 0};
    });"""
    found: list[dict[str, Any]] = browser.execute_script(script)
    return found


def ground(browser: webdriver.Chrome) -> int:
    """Lightness of the page's background, 0 to 765."""
    color = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    return sum(int(part) for part in color[color.index("(") + 1 : -1].split(",")[:3])


def requests(browser: webdriver.Chrome) -> list[str]:
    messages = [json.loads(entry["message"])["message"] for entry in browser.get_log("performance")]
    return [
        message["params"]["request"]["url"]
        for message in messages
        if message["method"] == "Network.requestWillBeSent"
    ]
