# SPDX-License-Identifier: Apache-2.0
"""BT, SP and LU send what their decompositions in the specification's usual form need, exactly."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from nhalf.measure.probe.subject import Subject
from npb_traffic import POINTS, STEPS, sends_of
from tests.nhalf.measure.apps.counting import counted, sends

CASES = [
    pytest.param(kernel, ranks, marks=[] if ranks <= 4 else [pytest.mark.full, pytest.mark.slow])
    for kernel, every in [("bt", (4, 9, 16)), ("sp", (4, 9, 16)), ("lu", (2, 4, 8, 16))]
    for ranks in every
]


@pytest.mark.parametrize(("kernel", "ranks"), CASES)
def test_every_rank_sends_what_its_decomposition_needs(
    subject: Subject, counter: Path, kernel: str, ranks: int
) -> None:
    for rank, found in enumerate(counted(subject, counter, kernel, ranks)):
        assert sends(found) == sends_of(kernel, rank, ranks), f"rank {rank}"


def test_the_totals_are_those_of_the_published_counts() -> None:
    """With d neighbours, a rank of LU sends d ((n - 2) (steps + 1) + steps + 4) messages."""
    for ranks in (4, 9, 16):
        q = math.isqrt(ranks)
        for rank in range(ranks):
            total = 6 * (STEPS["bt"] + 2) + 6 * (q - 1) * (STEPS["bt"] + 1)
            assert sends_of("bt", rank, ranks).total() == total
    assert sends_of("lu", 0, 4).total() == 2 * ((POINTS - 2) * 51 + 54)
