"""Points in another state of the machine are drawn, but belong to no curve."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.facts.facts import Facts
from nhalf.facts.overview import overview
from nhalf.present.charts.curves import ELSEWHERE_DATA
from nhalf.present.panels.messages import Bandwidth, Latency
from tests.nhalf.facts.test_machine_states import facts

SIZES = (0, 8, 64, 512, 4096)


@pytest.fixture
def of_two_states() -> Facts:
    """Four of the five launches at 64 B met the slow state."""
    return facts([(64, launch) for launch in range(4)], sizes=SIZES)


def layers(facts: Facts, panel: Any) -> list[dict[str, Any]]:
    chart = panel().render(facts)
    assert chart is not None
    found: list[dict[str, Any]] = chart.to_dict()["layer"]
    return found


@pytest.mark.parametrize("panel", [Latency, Bandwidth])
def test_they_are_hollow_marks_of_their_own(of_two_states: Facts, panel: Any) -> None:
    (layer,) = (
        layer
        for layer in layers(of_two_states, panel)
        if layer.get("data", {}).get("name") == ELSEWHERE_DATA
    )
    assert (layer["mark"]["type"], layer["mark"]["filled"]) == ("point", False)
    assert {row["bytes"] for row in layer["data"]["values"]} == {64}
    assert {row["state"] for row in layer["data"]["values"]} == {"flag 290 ns"}


@pytest.mark.parametrize("panel", [Latency, Bandwidth])
def test_in_one_state_there_is_no_such_layer(panel: Any) -> None:
    names = [layer.get("data", {}).get("name") for layer in layers(facts([], sizes=SIZES), panel)]
    assert ELSEWHERE_DATA not in names


def test_values_and_models_are_of_one_state(of_two_states: Facts) -> None:
    assert 64 not in of_two_states.sound["bytes"].to_list()
    assert of_two_states.elsewhere["bytes"].unique().to_list() == [64]
    assert 64 not in of_two_states.launches["bytes"].to_list()
    assert all(64 not in change for line in overview(of_two_states) for change in line.switches)
