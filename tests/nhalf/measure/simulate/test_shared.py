# SPDX-License-Identifier: Apache-2.0
"""What the messages within a simulated node move together, by hand in MB/s."""

from __future__ import annotations

from math import sqrt

import pytest

from nhalf.machines import catalogue
from nhalf.machines.message import curves_by_distance
from nhalf.measure.simulate.shared import WIDE, within_Bps


@pytest.mark.parametrize(
    ("name", "wanted"),
    [
        ("sunfire-link", 1000),  # each message counts where it leaves and where it arrives
        ("x1-ssp", 4 * sqrt(5640 * 8462) / 2),  # four MSP of four SSP
        ("altix-bx2", 2 * sqrt(0.9 * 1.1) * 1762 / 2),  # two ranks, both ways what one way moves
        ("myrinet-gm", WIDE / 1e6),
    ],
)
def test_messages_within_a_node(name: str, wanted: float) -> None:
    machine = catalogue.machine(name)
    within, _ = curves_by_distance(machine)
    assert within_Bps(machine, within) == pytest.approx(wanted * 1e6, rel=1e-3)
