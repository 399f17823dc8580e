"""The documentation's search works where the site is opened from a file."""

from __future__ import annotations

from pathlib import Path

import pytest
from selenium import webdriver
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from tests.nhalf.present.chromium import IN_BROWSER
from tests.patience import patience_s

SITE = Path(__file__).resolve().parents[3] / "build" / "site"

pytestmark = [
    *IN_BROWSER,
    pytest.mark.skipif(not (SITE / "index.html").exists(), reason="no site: run `make docs`"),
]


def test_search_finds_pages_from_a_file(browser: webdriver.Chrome) -> None:
    browser.get((SITE / "index.html").as_uri())
    browser.execute_script("document.querySelector('#__search').click()")
    box = browser.find_element(By.CSS_SELECTOR, "input.md-search__input")
    waiting = WebDriverWait(browser, patience_s(30))
    waiting.until(lambda _: box.is_displayed())
    box.send_keys("tolerance")
    links = waiting.until(lambda b: b.find_elements(By.CSS_SELECTOR, ".md-search-result__link"))
    assert any("as-fast-as" in str(link.get_attribute("href")) for link in links)
