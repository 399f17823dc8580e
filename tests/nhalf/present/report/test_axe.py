"""axe-core finds no barrier in a report: light, dark, and on a phone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import axe_core_python
import pytest
from selenium import webdriver

from nhalf.decide.history.cluster import gate_history
from nhalf.present.report.history_page import history_page
from tests.nhalf.decide.history.gated import cluster, three_faults
from tests.nhalf.present.chromium import IN_BROWSER, show
from tests.patience import patience_s

pytestmark = IN_BROWSER
AXE = """axe.run(document, {resultTypes: ["violations"], ...arguments[0]}).then(
    arguments[1], error => arguments[1]({violations: [{id: String(error), nodes: []}]}))"""


def violations(browser: webdriver.Chrome, *, rules: tuple[str, ...] = ()) -> list[Any]:
    """Violations that axe-core reports for the page, by all of its rules or some."""
    script = Path(axe_core_python.__file__).parent / "axe.min.js"
    browser.execute_script(script.read_text(encoding="utf-8"))
    browser.set_script_timeout(patience_s(60))
    found = browser.execute_async_script(AXE, {"runOnly": list(rules)} if rules else {})
    assert len(found.get("passes", ())) >= (len(rules) or 15), "axe looked at nothing"
    return [
        (one["id"], [node["html"][:160] for node in one["nodes"]][:3])
        for one in found["violations"]
    ]


def test_axe_finds_no_violation(browser: webdriver.Chrome, report: Path) -> None:
    show(browser, report, width=1200)
    assert violations(browser) == []


def test_axe_finds_contrast_in_the_dark_on_a_phone(browser: webdriver.Chrome, report: Path) -> None:
    show(browser, report, width=360, scheme="dark")
    assert violations(browser, rules=("color-contrast", "scrollable-region-focusable")) == []


@pytest.mark.full
def test_axe_finds_no_violation_in_the_page_of_a_cluster(
    browser: webdriver.Chrome, tmp_path: Path
) -> None:
    history = gate_history(list(cluster(24, three_faults)), tmp_path)
    (tmp_path / "cluster.html").write_text(history_page(history), encoding="utf-8")
    show(browser, tmp_path / "cluster.html", width=1200)
    assert violations(browser) == []
