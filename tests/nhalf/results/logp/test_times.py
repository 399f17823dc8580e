"""The gap that is reported is a time, whatever the noise of round trips."""

from __future__ import annotations

import pytest

from nhalf.results.logp.parameters import logp
from nhalf.results.logp.times import ROUND_TRIP
from tests.nhalf.results.logp.ideal import GIVEN, ideal


def test_a_negative_gap_from_noisy_round_trips_gives_way_to_the_stream() -> None:
    """RTT(0) is above RTT(1) + g(0) in one launch and below in others."""
    noise_s = iter([9e-6, -2e-6, 8e-6])

    def noisy(pattern: str, size: int, time_s: float) -> float:
        return time_s + next(noise_s) if pattern == ROUND_TRIP and size == 0 else time_s

    found = logp(ideal((1.0, 1.01, 0.99), change=noisy))
    assert found.gap_s is not None
    assert found.gap_s.median == pytest.approx(GIVEN["g"] + GIVEN["G"], rel=0.02)
    assert found.gap_s.low > 0
    (warning,) = (text for text in found.doubts if text.startswith("g(1)"))
    assert "is indistinguishable from 0" in warning
    assert warning.endswith("g is the gap of the stream instead")


def test_a_gap_that_round_trips_show_is_theirs() -> None:
    found = logp(ideal((1.0, 1.01, 0.99)))
    assert found.gap_s is not None
    assert found.gap_s.median == pytest.approx(GIVEN["g"] + GIVEN["G"], rel=0.02)
    assert not [text for text in found.doubts if text.startswith("g(1)")]
