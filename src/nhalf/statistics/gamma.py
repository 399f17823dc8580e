"""The digamma function and its derivatives, without SciPy, which is slow to load.

Asymptotic series after recurrence to arguments of FAR and more (M. Abramowitz, I. Stegun, Handbook
of Mathematical Functions, 6.3.18, 6.4.12 and 6.4.13); relative errors are below 1e-9.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from nhalf.base.arrays import Floats

FAR = 10


def digamma(x: ArrayLike) -> Floats:
    """The derivative of ln Gamma, for x > 0."""
    far, steps = _far(x)
    y = 1 / far**2
    series = y * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y / 240)))
    result: Floats = np.log(far) - 0.5 / far - series - (1 / steps).sum(axis=0)
    return result


def trigamma(x: ArrayLike) -> Floats:
    """The derivative of digamma, for x > 0."""
    far, steps = _far(x)
    y = 1 / far**2
    series = (1 + y * (1 / 6 - y * (1 / 30 - y * (1 / 42 - y / 30)))) / far
    result: Floats = series + y / 2 + (1 / steps**2).sum(axis=0)
    return result


def tetragamma(x: ArrayLike) -> Floats:
    """The derivative of trigamma, for x > 0; it is negative."""
    far, steps = _far(x)
    y = 1 / far**2
    series = -y * (1 + y * (1 / 2 - y * (1 / 6 - y * (1 / 6 - 3 * y / 10)))) - y / far
    result: Floats = series - (2 / steps**3).sum(axis=0)
    return result


def _far(x: ArrayLike) -> tuple[Floats, Floats]:
    """X + FAR, and the values in between: x, x + 1, ..."""
    near = np.asarray(x, dtype=np.float64)
    steps = np.arange(FAR, dtype=np.float64).reshape(-1, *[1] * near.ndim) + near
    return near + FAR, steps
