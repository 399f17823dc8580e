"""What the door to the native network answers to questions with nothing in them, or too much."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.machines.network import SharedCapacities

STAR = ("topology star 4", "link 1 1")


def shared(*lines: str) -> SharedCapacities:
    return SharedCapacities(np.array([0, 1]), lines, np.full((2, 9), 1e9), np.full(2, 0.5))


def test_no_messages_share_nothing() -> None:
    assert shared(*STAR).load_s_per_B([]).tolist() == [0, 0]
    assert shared(*STAR).rates_Bps([], np.zeros((2, 0)), np.ones(2)).shape == (2, 0)


def test_a_message_alone_moves_what_it_does_alone() -> None:
    assert shared(*STAR).load_s_per_B([(0, 1)]) == pytest.approx([1e-9, 1e-9])
    alone_Bps = np.array([[4e8], [2e9]])
    assert shared(*STAR).rates_Bps([(0, 1)], alone_Bps, np.ones(2)) == pytest.approx(
        np.array([[4e8], [1e9]])
    )


def test_lines_that_describe_no_machine_are_an_error() -> None:
    with pytest.raises(ValueError, match="not that of a machine"):
        shared("nonsense 1").load_s_per_B([(0, 1)])
