"""Coverage, bias and widening by kind, with counts by hand."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

from nhalf.decide.ledger.coverage import CELLS_MIN, conformal, coverage_of, coverages
from nhalf.decide.ledger.lines import Ledger, append_lines
from tests.nhalf.decide.ledger.cells import predicted, scored


def test_nothing_gives_no_row() -> None:
    assert coverages(Ledger()) == []


def test_counts_coverage_and_bias_by_hand() -> None:
    scores = (scored(1.1, 1.2), scored(1.3, 1.2, 1), scored(0.9, 1.2, 2), scored(2.0, None, 3))
    (row,) = coverages(Ledger((predicted(0), predicted(9)), scores))
    assert (row.kind, row.predictions, row.matched) == ("model", 2, 4)
    assert (row.with_interval, row.inside, row.coverage) == (3, 2, 2 / 3)
    assert row.bias_ratio == pytest.approx(math.sqrt(1.1 * 1.3))
    assert row.typical_ratio == pytest.approx(math.sqrt(1 / 0.9 * 1.3))
    assert (row.within_ratio, row.stretch_ratio, row.note) == (None, None, "")
    assert row.widened(1.1) == 1.1
    assert row.widened(None) is None


def test_the_quantile_is_that_of_the_next_value() -> None:
    assert conformal(range(1, 20)) == 19  # 20 x 0.95 is the 19th
    assert conformal(range(1, 41)) == 39  # 41 x 0.95 is between 38 and 39
    assert conformal([3.0]) == 3.0


@pytest.mark.parametrize(("count", "widens"), [(CELLS_MIN - 1, False), (CELLS_MIN, True)])
def test_intervals_widen_from_twenty_cells_on(count: int, widens: bool) -> None:
    scores = tuple(scored(1.5 if n == 3 else 1.1, 1.2, n) for n in range(count))
    (row,) = coverages(Ledger((), scores))
    assert (row.stretch_ratio is not None) == widens
    if widens:
        stretch = math.log(1.5) / math.log(1.2)
        assert row.stretch_ratio == pytest.approx(stretch)
        assert row.widened(1.2) == pytest.approx(1.5)
        assert row.note == (
            f"the ledger's 20 measured cells of model predictions widen the interval "
            f"{stretch:.3g}-fold"
        )


def test_good_intervals_stay_as_they_are() -> None:
    (row,) = coverages(Ledger((), tuple(scored(1.05, 1.2, n) for n in range(30))))
    assert (row.stretch_ratio, row.coverage) == (1.0, 1.0)
    assert row.widened(1.3) == 1.3
    assert row.note.endswith("confirm the interval")


def test_without_intervals_the_errors_give_one() -> None:
    scores = tuple(scored(1 + 0.01 * n, None, n, "composed") for n in range(40))
    (row,) = coverages(Ledger((), scores))
    assert row.within_ratio == pytest.approx(1.38)  # the 39th of 40
    assert row.widened(None) == pytest.approx(1.38)
    assert row.widened(1.5) == 1.5  # it never narrows
    assert row.note.endswith("95 % are within a factor of 1.38")
    (row,) = coverages(Ledger((), tuple(scored(4.0, None, n, "composed") for n in range(20))))
    assert row.note.endswith("a factor of 4, so that such times are no predictions")


def test_an_exact_prediction_may_be_off_by_rounding() -> None:
    (row,) = coverages(Ledger((), tuple(scored(1.0, 1.0, n) for n in range(20))))
    assert (row.stretch_ratio, row.coverage) == (1.0, 1.0)


def test_a_ledger_that_cannot_be_read_changes_nothing(tmp_path: Path) -> None:
    assert coverage_of("model", tmp_path) is None
    append_lines(tmp_path / "ledger", [scored(1.1, None, n) for n in range(20)])
    row = coverage_of("model", tmp_path / "ledger")
    assert row is not None
    assert row.matched == 20
