"""What kernels of the NAS Parallel Benchmarks send is their closed form, counted beneath them."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.measure.probe.subject import Subject
from nhalf.models.npb.problems import problem
from nhalf.models.npb.traffic import traffic_of
from tests.nhalf.measure.apps.counting import counted

POWERS, SQUARES = (1, 2, 4, 8, 16), (1, 4, 9, 16)
CASES = {
    **{"ep": (1, 3), "cg": POWERS, "mg": POWERS, "ft": POWERS, "is": POWERS},
    **{"lu": (1, 2, 4, 6, 8, 16), "bt": SQUARES, "sp": SQUARES},
}


def case(kernel: str, ranks: int, name: str = "S") -> object:
    """Few ranks of class S are tried for every change."""
    is_quick = name == "S" and ranks <= 4
    marks = [] if is_quick else [pytest.mark.full, pytest.mark.slow]
    return pytest.param(kernel, name, ranks, marks=marks)


@pytest.mark.sampled(6)
@pytest.mark.parametrize(
    ("kernel", "name", "ranks"),
    [
        *(case(kernel, ranks) for kernel, numbers in CASES.items() for ranks in numbers),
        *(case(kernel, 4, "W") for kernel in CASES),
        case("ft", 64, "W"),
        case("mg", 32),
    ],
)
def test_every_rank_sends_what_its_closed_form_has(
    subject: Subject, counter: Path, kernel: str, name: str, ranks: int
) -> None:
    for rank, found in enumerate(counted(subject, counter, kernel, ranks, name)):
        assert found == traffic_of(problem(kernel, name), rank, ranks), f"rank {rank}"
