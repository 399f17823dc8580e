"""Judging models on what was not used to fit them: sizes of a curve, or cells of a pattern.

Models of patterns are chosen by the result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.models.forms import Curve, Model
from nhalf.models.pattern import RANKS_MIN, Pattern
from nhalf.models.smooth import CELLS_MAX
from nhalf.models.term_choice import Cells

CURVE_FOLDS = 5
SIZES_MIN = 4


def take(curve: Curve, index: NDArray[Any]) -> Curve:
    """The curve at some of its sizes, `index` an array of positions or a mask."""
    return Curve(
        curve.size_bytes[index],
        curve.time_s[index],
        curve.low_s[index],
        curve.high_s[index],
        curve.launch_time_s[:, index],
    )


def heldout_errors(model: type[Model], curve: Curve, folds: int = CURVE_FOLDS) -> Floats:
    """Relative absolute errors of predictions for every inner size, (n - 2,).

    The sizes are dealt to `folds` groups in turn; each group is predicted by a model fitted to all
    other sizes, the two ends always among them, so that nothing is extrapolated. Every inner size
    is judged exactly once. Empty below four sizes.
    """
    count = curve.size_bytes.size
    if count < SIZES_MIN:
        return np.empty(0)
    inner = np.arange(1, count - 1)
    errors = np.full(count, np.nan)
    for fold in range(min(folds, inner.size)):
        left_out = inner[fold :: min(folds, inner.size)]
        training = np.setdiff1d(np.arange(count), left_out)
        predicted = model.fit(take(curve, training)).predict_s(curve.size_bytes[left_out])
        errors[left_out] = np.abs(predicted / curve.time_s[left_out] - 1)
    return errors[1:-1]


FEW = 40
FOLDS, FOLDS_OF_FEW = 4, 10
"""A tenth of few cells is left out at a time: without a quarter, a model would be different."""
RANK_FOLDS = 3
BETWEEN_MOST = 2.0
"""A surface that is better at single cells left out may have this many times the error of sums
when all cells of a size are left out together."""
CORRECTION_GAIN = 0.9
"""A correction is used if it leaves at most this share of the mean error,"""
CORRECTION_FLOOR = 1e-3
"""and reduces it by at least this."""


@dataclass(frozen=True)
class Heldout:
    """Relative absolute errors of cells that were not used for the fit."""

    median: float
    p95: float
    count: int

    @classmethod
    def of(cls, errors: Floats) -> Heldout | None:
        """None if nothing could be left out."""
        if errors.size == 0:
            return None
        return cls(float(np.median(errors)), float(np.quantile(errors, 0.95)), errors.size)


def heldout(
    cells: Cells, by_ranks: bool = False, by_sizes: bool = False
) -> tuple[Floats, Floats, Floats]:
    """Relative absolute errors of sums, of corrected sums and of a surface, on cells left out.

    There is no surface through more than CELLS_MAX cells. Every cell is left out once: dealt to
    groups at random (always in the same way), or together with all cells of its rank count or of
    its size. The corners, or the smallest and largest, always stay: nothing is extrapolated.
    """
    errors: tuple[list[Floats], list[Floats], list[Floats]] = ([], [], [])
    grouped_by = cells.ranks if by_ranks else cells.size_bytes
    for left_out in _deal_values(grouped_by) if by_ranks or by_sizes else _deal(cells):
        training = cells.take(~left_out)
        if np.unique(training.ranks).size < RANKS_MIN:
            continue
        sums = Pattern.fit(training)
        models = [sums, sums.corrected(training)]
        models += [sums.smoothed(training)] if cells.ranks.size <= CELLS_MAX else []
        for place, model in enumerate(models):
            held_out = cells.take(left_out)
            predicted = model.predict_s(held_out.size_bytes, held_out.ranks, extrapolate=True)
            errors[place].append(np.abs(predicted / held_out.time_s - 1))
    plain, corrected, smooth = (
        np.concatenate([np.empty(0), *model_errors]) for model_errors in errors
    )
    return plain, corrected, smooth


def _deal(cells: Cells) -> list[NDArray[np.bool_]]:
    ends = [np.isin(v, (v.min(), v.max())) for v in (cells.size_bytes, cells.ranks)]
    inner = np.flatnonzero(~(ends[0] & ends[1]))
    dealt = np.random.default_rng(0).permutation(inner)
    masks = []
    folds = FOLDS_OF_FEW if cells.ranks.size <= FEW else FOLDS
    for fold in range(min(folds, inner.size)):
        mask = np.zeros(cells.ranks.size, dtype=np.bool_)
        mask[dealt[fold::folds]] = True
        masks.append(mask)
    return masks


def _deal_values(values: Floats | NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """Masks of all cells of some rank counts, or sizes, except the smallest and the largest."""
    inner = np.unique(values)[1:-1]
    groups = min(RANK_FOLDS, inner.size)
    return [np.isin(values, inner[fold::groups]) for fold in range(groups)]


def _better(errors: Sequence[Floats], old: int, new: int) -> int:
    """The index of the model to use: the new one if its error is enough smaller."""
    before, after = (float(errors[i].mean()) if errors[i].size else 0.0 for i in (old, new))
    is_worth_it = after <= CORRECTION_GAIN * before and before - after >= CORRECTION_FLOOR
    return new if is_worth_it else old


def best_errors(cells: Cells) -> tuple[int, Floats]:
    """The best of the models in `heldout`, and its errors on held-out data."""
    errors = heldout(cells)
    best = _better(errors, 0, 1)
    if errors[2].size:
        # A cell left out has neighbours of the same size and rank count; leaving out all of them
        # shows whether the surface also predicts between sizes and rank counts.
        between = heldout(cells, by_sizes=True)
        if cells.ranks.size > FEW:
            criteria = zip(errors, between, heldout(cells, by_ranks=True), strict=True)
            best = _better([np.concatenate(model_errors) for model_errors in criteria], best, 2)
        elif not between[2].size or between[2].mean() <= BETWEEN_MOST * between[best].mean():
            best = _better(errors, best, 2)
    return best, errors[best]


def fit_judged(cells: Cells) -> tuple[Pattern, Heldout | None, Heldout | None]:
    """The model, corrected or smoothed where that helps, and its errors on what was left out."""
    best, errors = best_errors(cells)
    by_ranks = heldout(cells, by_ranks=True)[best]
    model = Pattern.fit(cells, corrected=best == 1)
    model = model.smoothed(cells) if best == 2 else model
    return model, Heldout.of(errors), Heldout.of(by_ranks)
