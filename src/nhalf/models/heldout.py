"""Judging a model on sizes that were not used to fit it."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.models.forms import Curve, Model

FOLDS = 5
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


def heldout_errors(model: type[Model], curve: Curve, folds: int = FOLDS) -> Floats:
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
