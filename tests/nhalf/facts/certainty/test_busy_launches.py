"""Whether other processes kept more cores busy than before, so that what is slower is no change."""

from __future__ import annotations

import pytest

from nhalf.facts.certainty.busy_launches import busier
from nhalf.facts.facts import Facts
from nhalf.statistics.doubt import CERTAIN
from nhalf.store.others import Others
from tests.nhalf.synthetic import build_measurements


def beside(*cores: float) -> Facts:
    """Launches of two ranks on two cores, of which others took these."""
    launches = [Others("mpich", number, 2, taken, 2) for number, taken in enumerate(cores)]
    return Facts(build_measurements(launches=2), find_others=lambda: {"run": launches})


@pytest.mark.parametrize(
    ("before", "now"),
    [
        ([], []),
        ([0.0, 0.0], [0.1, 0.0]),
        ([1.0, 1.0], [0.0, 0.0]),
        ([1.0, 1.0], [1.2, 1.1]),
        ([], [1.0, 0.0, 0.0]),
    ],
    ids=["unknown", "idle", "idle now", "as busy", "few"],
)
def test_a_machine_that_is_no_busier_is_no_excuse(before: list[float], now: list[float]) -> None:
    assert busier(beside(*before), beside(*now)) is CERTAIN


def test_a_machine_that_is_busier_may_be_why() -> None:
    doubt = busier(beside(0.0, 0.0), beside(1.0, 0.9, 1.0))
    assert doubt.reason == (
        "other processes kept 1.0 of 2 cores busy, so that ranks had to share cores"
    )
    assert "idle" in doubt.remedy
    assert "busy, 1.0 before, so" in busier(beside(1.0), beside(2.0)).reason
