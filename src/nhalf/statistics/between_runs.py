"""How much two runs differ beyond their launches, learned from all curves of both.

Launches of a run share what lasts longer than the run, so that two runs differ by more than their
launches say: by the share BETWEEN_RUNS of a launch's variance, on average over pairs of runs
(statistics/next_run.py). But nights are not alike. Where dozens of curves have come out as before,
this pair of runs differs less, and a change of a single curve can be found that the average would
hide. With the difference d of the levels of a curve, its variance e if launches alone differ, and
the variance V of a launch on both sides together,

    E d^2 = e + share V

so that curves j other than i have the share S = sum (d^2 - e) / sum V. It is drawn towards the
average as if PRIOR_CURVES more curves had shown that: the share of curve i is

    s = (PRIOR_CURVES BETWEEN_RUNS + k max(S, 0)) / (PRIOR_CURVES + k)

with k curves other than i. Few curves know it badly, so that s has PRIOR_CURVES + k degrees of
freedom: eight curves raise alarms in 1 to 2 % of simulated nights, and in 2.5 % without. Where the
quantile t of Student's distribution makes it reach further than the average would with that of the
normal distribution, z,

    s t^2 >= BETWEEN_RUNS z^2

the average is taken. A null distribution from the family itself is due to B. Efron (Large-Scale
Simultaneous Hypothesis Testing, J. Am. Statist. Assoc. 99 (2004) 96). Unlike his, this one is never
narrower than launches allow, has no shift, and never wider than the average: a slow-down of all
curves is a change, not noise.
"""

from collections.abc import Sequence

import numpy as np

from nhalf.statistics.next_run import BETWEEN_RUNS
from nhalf.statistics.ratio_intervals import AVERAGE_SHARE, LaunchLogs, RunShare

PRIOR_CURVES = 2
"""Larger finds less, smaller raises more false alarms on few curves; see docs/numbers.md."""
REFERENCE_ERROR = 0.001
"""What a curve of a night may err; intervals are compared there."""


def shares_between_runs(curves: Sequence[LaunchLogs]) -> list[RunShare]:
    """The share of each curve's runs, by the other curves.

    Curves without a spread over launches say nothing about the others.
    """
    from scipy.special import ndtri, stdtrit

    excess = np.array([curve.level_difference**2 - curve.mean_variance for curve in curves])
    launch_variance = np.array([sum(curve.launch_variances) for curve in curves])
    usable = np.isfinite(excess) & (launch_variance > 0)
    excess, launch_variance = np.where(usable, [excess, launch_variance], 0.0)
    curves_beside = usable.sum() - usable
    variance_beside = launch_variance.sum() - launch_variance
    with np.errstate(divide="ignore", invalid="ignore"):
        share_beside = np.maximum((excess.sum() - excess) / variance_beside, 0.0)
    share_beside = np.where(variance_beside > 0, share_beside, BETWEEN_RUNS)
    degrees = PRIOR_CURVES + curves_beside
    shares = (PRIOR_CURVES * BETWEEN_RUNS + curves_beside * share_beside) / degrees
    further = stdtrit(degrees, REFERENCE_ERROR) / ndtri(REFERENCE_ERROR)
    return [
        RunShare(float(share), float(number)) if is_nearer else AVERAGE_SHARE
        for share, number, is_nearer in zip(
            shares, degrees, shares * further**2 < BETWEEN_RUNS, strict=True
        )
    ]
