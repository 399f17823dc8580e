"""Many curves of one night: how likely an error each may have, so that alarms can be believed.

A night compares dozens of curves, and with 95 % for each of them some alarm is near certain. The
share of false alarms among all alarms of a night is controlled instead (Y. Benjamini, Y. Hochberg,
Controlling the false discovery rate, J. R. Statist. Soc. B 57 (1995) 289): of m curves, ordered by
their probabilities, the largest number R is reported of which each has at most R / m of the rate.
On a night without any difference that is the probability of any alarm at all.

Curves of a night are dependent: launches, cores and disturbances are common to them, so that they
err in one direction. The procedure holds under such positive dependence (Y. Benjamini, D.
Yekutieli, Annals of Statistics 29 (2001) 1165), separately for slower and for faster; the factor
of about log m for any other dependence is not paid.

What is called as fast as before, or not slower, is a discovery, too, by a test of equivalence (D.
Schuirmann, J. Pharmacokinet. Biopharm. 15 (1987) 657): the share of false ones among these is
controlled in the same way, at another rate.

Intervals at the error that decided, R / m of the rate, agree with the verdicts: they exclude a
ratio of 1 where a difference is reported (Y. Benjamini, D. Yekutieli, J. Am.
Statist. Assoc. 100 (2005) 71).
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

FALSE_ALARMS = 0.02
"""Rate of false alarms, of slower and of faster each: one night in fifty."""
FALSE_EQUIVALENCES = 0.05
"""Share of curves beyond the tolerance among those called not slower, or not faster."""


def family_error(probabilities: Sequence[float], rate: float = FALSE_ALARMS) -> float:
    """The error that every member may have: R / m of the rate, with R = 1 if none is reported.

    `probabilities` has for each member the smallest error at which it would be reported. Exactly
    the members at or below the result are to be reported.
    """
    count = max(len(probabilities), 1)
    allowed = rate * np.arange(1, count + 1) / count
    ordered = np.sort(np.asarray(probabilities, dtype=np.float64))
    passing = np.flatnonzero(ordered <= allowed[: len(ordered)])
    return float(allowed[passing[-1] if len(passing) else 0])
