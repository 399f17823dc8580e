"""Efficiencies of programs in virtual time, on every library, beside their closed forms."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.decide.program.basis import efficiency
from tests.nhalf.measure.traced.known_efficiencies import ROUNDS, known
from tests.nhalf.measure.virtual.programs import WHEELS, built
from tests.nhalf.measure.virtual.test_traced import traced

UNIT_US = 1000
NEAR_SHARE = 0.01
"""Messages of 8 bytes take a few microseconds of each millisecond."""
USUAL = ("mpich", 8, "barrier")
CASES = [(vendor, ranks, word) for vendor in WHEELS for ranks in (4, 8) for word in ROUNDS]


@pytest.mark.full
@pytest.mark.parametrize(
    ("vendor", "ranks", "word"),
    [pytest.param(*case, marks=[] if case == USUAL else [pytest.mark.full]) for case in CASES],
)
def test_many_ranks(vendor: str, ranks: int, word: str, programs: Path, tmp_path: Path) -> None:
    program = built(vendor, "efficiencies", programs)
    words = [word, str(ROUNDS[word]), str(UNIT_US)]
    tree = efficiency(traced("altix-bx2", vendor, ranks, tmp_path / "out", program, *words))
    assert tree is not None
    errors = known(word, ranks, ROUNDS[word]).errors(tree)
    assert errors == pytest.approx(dict.fromkeys(errors, 0.0), abs=NEAR_SHARE)
