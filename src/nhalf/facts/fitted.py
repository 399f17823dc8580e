# SPDX-License-Identifier: Apache-2.0
"""The curves of the main pattern with the models that describe them."""

from __future__ import annotations

from collections.abc import Iterator

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, describes, labelled_points
from nhalf.machines.machine import FittedModel


@fact
def fitted_curves(facts: Facts) -> Iterator[tuple[str, pl.DataFrame, list[FittedModel]]]:
    """Series, points (`Facts.sound`) and models of every curve that could be fitted."""
    points = labelled_points(facts).filter(pl.col("pattern") == MAIN_PATTERN)
    for (series,), curve in points.group_by("series", maintain_order=True):
        first = curve.row(0, named=True)
        models = [model for model in facts.models if describes(model, first)]
        if models:
            yield str(series), curve, models
