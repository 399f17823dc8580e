"""Pictures of a timeline: what is drawn, how much of it, and that a browser draws it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from selenium import webdriver

from nhalf.facts.program.program import Program
from nhalf.facts.program.states import STATES
from nhalf.present.program.panels.calls import MARKS_MAX, PLACES_MAX, Timeline
from nhalf.present.report.page import page
from nhalf.present.report.sections import Section, sections
from tests.nhalf.present.chromium import IN_BROWSER, charts, ground, show
from tests.nhalf.traced_programs import call, frame, program, timed

CHARTS = ["efficiencies", "timeline", "delays"]
STEP_S = 0.01


def ring(ranks: int, rounds: int) -> Program:
    """In each round each rank computes, another one longest, and then all meet."""
    rows = []
    for number in range(rounds):
        begin_s, last = number * STEP_S, number % ranks
        for rank in range(ranks):
            from_s = begin_s + STEP_S * (0.8 if rank == last else 0.5)
            rows.append(call(rank, "MPI_Barrier", "collective", -2, from_s, begin_s + STEP_S))
    made = timed(ranks, *rows, ends_s=(rounds * STEP_S,) * ranks)
    span = {"rank": 1, "in_call": False, "start_s": 0.0, "end_s": STEP_S / 2, "queued_s": 0.004}
    sites = [{"site": 0, "module": "/a/program", "file": "/a/solver.c", "line": 142}]
    at_site = {"call": "MPI_Barrier", "count": rounds, "time_s": 0.1}
    return replace(
        made,
        off_processor=frame("off_processor", [span]),
        sites=frame("sites", sites),
        call_sites=frame("call_sites", [{**at_site, "rank": rank} for rank in range(ranks)]),
    )


def drawn(made: Program) -> dict[str, Section]:
    return {section.name: section for section in sections(made)}


def layers(made: Program) -> list[list[dict[str, Any]]]:
    """The rows of the stretches and those of the path."""
    chart = Timeline().render(made)
    assert chart is not None
    spec: Any = chart.to_dict()
    datasets = spec.get("datasets", {})
    data = [layer["data"] for layer in spec["layer"][:2]]
    return [one["values"] if "values" in one else datasets[one["name"]] for one in data]


def test_a_stretch_is_one_mark() -> None:
    stretches, path = layers(ring(2, 2))
    own = [(row["state"], row["from"], row["to"]) for row in stretches if row["place"] == 0]
    assert [state for state, *_ in own] == [
        "computing",
        "in MPI",
        "computing",
        STATES[1],
        STATES[2],
    ]
    assert own[0][1:] == pytest.approx((0.0, 0.008), abs=STEP_S / 50)
    assert next(row["state"] for row in stretches if row["place"] == 1) == "no processor"
    assert path[0]["place"] == 0
    assert path[-1]["from"] == pytest.approx(2 * STEP_S)


@pytest.mark.parametrize("ranks", [65, pytest.param(1000, marks=pytest.mark.full)])
def test_large_traces_have_few_marks(ranks: int) -> None:
    stretches, path = layers(ring(ranks, 30))
    assert len({row["place"] for row in stretches}) <= PLACES_MAX
    assert len(stretches) <= MARKS_MAX
    assert len(path) <= 2 * MARKS_MAX
    assert stretches[0]["rank"] == (f"0 to {(ranks - 1) // 64}")


def test_places_in_the_program_are_a_table() -> None:
    assert "solver.c:142" in page(ring(2, 3))
    assert "call-sites" not in drawn(timed(2, call(0, "MPI_Barrier", "collective", -2, 1, 2)))


def test_without_a_timeline_there_is_none() -> None:
    assert not {"timeline", "delays"} & set(drawn(program(3, elapsed_s=1.0)))


class TestInBrowser:
    pytestmark = IN_BROWSER

    @pytest.mark.parametrize(
        ("width", "scheme"), [(1200, "dark"), pytest.param(390, "light", marks=pytest.mark.full)]
    )
    def test_every_picture_is_drawn_without_complaint(
        self, browser: webdriver.Chrome, tmp_path: Path, width: int, scheme: str
    ) -> None:
        out = tmp_path / "report.html"
        out.write_text(page(ring(64, 20)), encoding="utf-8")
        assert out.stat().st_size < 2_000_000
        show(browser, out, width, scheme)
        assert [chart["name"] for chart in charts(browser)][:3] == CHARTS
        for chart in charts(browser):
            assert 200 < chart["width"] <= chart["room"] + 1, chart
            assert chart["marks"] >= 10, chart
        assert browser.execute_script("return document.documentElement.scrollWidth") <= width
        assert (ground(browser) < 120) == (scheme == "dark")
        stroke = """return getComputedStyle([...document.querySelectorAll(
            '#timeline svg .mark-line path')].at(-1)).stroke"""
        ink = {"light": "rgb(20, 24, 31)", "dark": "rgb(238, 241, 245)"}
        assert browser.execute_script(stroke) == ink[scheme]
        assert browser.get_log("browser") == []
