"""How much the launches of curves differ: few launches each, many curves that share what they say.

Five launches know the variance of a curve's level with four degrees of freedom, so that intervals
at the errors of a night are half as wide again as with a known one. The curves of a library have
variances that are alike, and each is drawn towards the common one (statistics/moderation.py).

A launch disturbs curves together, so that their variances err together, too: with a correlation r
of two levels over launches, their squares have r^2. Of m curves the common variance is known as if
from m / (1 + (m - 1) r^2) of them, and that many agree by chance. The mean of r^2 over pairs of
curves is that of the launches, which is rather too large: of n independent ones it is 1 / (n - 1).

A handful of curves may look alike by chance. With them believed, nights of eight curves and five
launches raised alarms in 27 of 800 cases instead of 2 %; so they are taken to differ by more.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.decide.ratio_intervals import LaunchLogs, LaunchSpread
from nhalf.statistics.moderation import moderate

DOUBT = 1.0
"""Standard errors by which variances are taken to differ more than they seem to."""
LAUNCHES_LEAST = 4
"""Fewer have correlations of any size by chance."""


def with_common_variances(curves: Sequence[LaunchLogs]) -> list[LaunchLogs]:
    """The curves of one library with the variances of their launches drawn together, each side."""
    sides = [_moderated(curves, side) for side in range(len(curves[0].sides) if curves else 0)]
    return [
        replace(curve, spreads=[side[number] for side in sides])
        for number, curve in enumerate(curves)
    ]


def _moderated(curves: Sequence[LaunchLogs], side: int) -> list[LaunchSpread]:
    """Variance and degrees of freedom of each curve's launches on one side."""
    levels = [curve.sides[side].level for curve in curves]
    degrees = np.array([max(len(level) - 1, 0) for level in levels], dtype=float)
    variances = np.array([np.var(x, ddof=1) if len(x) > 1 else np.nan for x in levels])
    usable = np.isfinite(variances) & (variances > 0)
    if usable.sum() > 2:
        common = _common_share(
            [level for level, is_usable in zip(levels, usable, strict=True) if is_usable]
        )
        moderated = moderate(variances[usable], degrees[usable], common, DOUBT)
        variances[usable], degrees[usable] = moderated
    return [LaunchSpread(*pair) for pair in zip(variances.tolist(), degrees.tolist(), strict=True)]


def _common_share(levels: Sequence[Floats]) -> float:
    """The mean squared correlation of the levels of two curves, from those with as many launches;
    1 if that is unknown.
    """
    launches = max(map(len, levels))
    whole = np.array([level for level in levels if len(level) == launches])
    if len(whole) < 2 or launches < LAUNCHES_LEAST:
        return 1.0
    squares = np.corrcoef(whole)[np.triu_indices(len(whole), 1)] ** 2
    return float(min(squares.mean(), 1.0))
