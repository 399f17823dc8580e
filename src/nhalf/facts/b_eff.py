# SPDX-License-Identifier: Apache-2.0
"""The bandwidths from which the effective bandwidth is averaged."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.results.b_eff.average import curves, rates


@fact
def b_eff_curves(facts: Facts) -> pl.DataFrame:
    """One row per series, length and kind of pattern ('rings' or 'random'), sorted.

    Columns are those of `nhalf.results.b_eff.average.curves`, in bytes per second, and `series`.
    """
    points = curves(rates(facts.measurements))
    points = points.with_columns(algorithm=pl.lit("native"), axes=pl.lit(""))
    return with_series(points, facts)
