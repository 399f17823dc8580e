"""Texts of requests become values once, and stay texts wherever they are stored."""

from __future__ import annotations

import pytest

from nhalf.base import request as base
from nhalf.base.errors import InputError
from nhalf.jobs.request import RunRequest
from nhalf.machines.layout import Layout
from nhalf.measure.apps import AppRequest
from nhalf.measure.plan import request as module
from nhalf.measure.plan.planning import placement_texts
from nhalf.measure.plan.request import PlanRequest, words
from nhalf.sites.placement import Placement


def test_words_are_taken_once() -> None:
    assert words(" b, a ,b") == ["b", "a"]
    with pytest.raises(InputError, match="names nothing"):
        words(" ,")


@pytest.mark.parametrize("kind", [PlanRequest, AppRequest])
def test_values_of_a_request(kind: type[PlanRequest | AppRequest]) -> None:
    request = kind(placement="cores,4x2", budget="2m", timeout="500ms")
    assert request.placements == (Placement("cores"), Placement("4x2", Layout(4, 2)))
    assert (request.budget_s, request.timeout_s) == (120.0, 0.5)
    assert kind().budget_s == 0.0


def test_a_duration_is_parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    texts: list[str] = []

    def parse_duration(text: str) -> float:
        texts.append(text)
        return 1.0

    monkeypatch.setattr(module, "parse_duration", parse_duration)
    request = PlanRequest(budget="2m", timeout="5s")
    assert {request.budget_s + request.timeout_s for _ in range(3)} == {2.0}
    assert texts == ["2m", "5s"]


def test_an_invalid_text_is_refused_whenever_its_value_is_needed() -> None:
    request = PlanRequest(budget="soon")
    for _ in range(2):
        with pytest.raises(InputError, match="'soon' is not a duration"):
            assert request.budget_s


def test_unknown_placements_are_refused_by_a_plan() -> None:
    request = PlanRequest(placement="4x2,same-cash")
    assert [placement.text for placement in request.placements] == ["4x2", "same-cash"]
    with pytest.raises(InputError, match="same-cache"):
        placement_texts(request.placements)


def test_values_change_neither_equality_nor_the_words_of_a_job() -> None:
    request = RunRequest(budget="2m", placement="4x2", given=frozenset({"budget", "placement"}))
    fresh = RunRequest(budget="2m", placement="4x2", given=frozenset({"budget", "placement"}))
    assert request.budget_s == 120.0
    assert request.placements
    assert request == fresh
    assert base.as_words(request, request.given) == base.as_words(fresh, fresh.given)
    assert set(request.begin) == {"--budget=2m", "--placement=4x2"}
