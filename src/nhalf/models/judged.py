# SPDX-License-Identifier: Apache-2.0
"""Judging models of patterns on cells that were left out, and choosing among them by that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.models.pattern import RANKS_MIN, Pattern
from nhalf.models.smooth import CELLS_MAX
from nhalf.models.term_choice import Cells

FEW = 40
FOLDS, FOLDS_OF_FEW = 4, 10
"""A tenth of few cells is left out at a time: without a quarter of them, a model is another one."""
RANK_FOLDS = 3
BETWEEN_MOST = 2.0
"""Times the error of sums at whole sizes left out: what a surface may have, better at cells."""
CORRECTION_GAIN = 0.9
"""A correction is worth it where it leaves at most this share of the mean error,"""
CORRECTION_FLOOR = 1e-3
"""and takes at least this from it."""


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
    """Relative absolute errors of sums, with corrections, and of a surface, on cells left out.

    There is no surface through more than CELLS_MAX cells.
    Every cell is left out once, dealt to groups at random (always in the same way), or with all
    its number of ranks. The corners, or the least and most ranks, always stay: nothing is
    extrapolated.
    """
    errors: tuple[list[Floats], list[Floats], list[Floats]] = ([], [], [])
    whole = cells.ranks if by_ranks else cells.size_bytes
    for out in _deal_whole(whole) if by_ranks or by_sizes else _deal(cells):
        rest = cells.take(~out)
        if np.unique(rest.ranks).size < RANKS_MIN:
            continue
        sums = Pattern.fit(rest)
        models = [sums, sums.corrected(rest)]
        models += [sums.smoothed(rest)] if cells.ranks.size <= CELLS_MAX else []
        for place, model in enumerate(models):
            predicted = model.predict_s(cells.size_bytes[out], cells.ranks[out], extrapolate=True)
            errors[place].append(np.abs(predicted / cells.time_s[out] - 1))
    plain, corrected, smooth = (np.concatenate([np.empty(0), *each]) for each in errors)
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


def _deal_whole(values: Floats | NDArray[np.int64]) -> list[NDArray[np.bool_]]:
    """Numbers of ranks, or sizes, except the smallest and the largest."""
    inner = np.unique(values)[1:-1]
    groups = min(RANK_FOLDS, inner.size)
    return [np.isin(values, inner[fold::groups]) for fold in range(groups)]


def _better(errors: Sequence[Floats], old: int, new: int) -> int:
    """The place of the model that is to be taken, the new one where it is worth it."""
    before, after = (float(errors[i].mean()) if errors[i].size else 0.0 for i in (old, new))
    worth = after <= CORRECTION_GAIN * before and before - after >= CORRECTION_FLOOR
    return new if worth else old


def best_errors(cells: Cells) -> tuple[int, Floats]:
    """The best of the models in `heldout`, and its errors on held-out data."""
    errors = heldout(cells)
    best = _better(errors, 0, 1)
    if errors[2].size:
        # It has to be good between sizes and ranks, too: of a cell left out others are known there.
        between = heldout(cells, by_sizes=True)
        if cells.ranks.size > FEW:
            every = zip(errors, between, heldout(cells, by_ranks=True), strict=True)
            best = _better([np.concatenate(each) for each in every], best, 2)
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
