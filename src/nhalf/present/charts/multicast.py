# SPDX-License-Identifier: Apache-2.0
"""Multicasts as the pictures of them need it."""

from __future__ import annotations

import polars as pl

from nhalf.facts.multicast import FORWARDINGS, METHODS, multicasts
from nhalf.present.charts import common
from nhalf.present.panels import ReportData


def named_multicasts(data: ReportData) -> pl.DataFrame:
    """The multicasts of the data, with `series`: the machine and what tells runs apart."""
    points = multicasts(data.summary)
    if points.is_empty():
        return points.with_columns(series=pl.lit(""))
    plain = points.with_columns(algorithm=pl.lit(""), pattern=pl.lit("multicast"))
    return common.with_series(plain, data).drop("algorithm", "pattern")


def forwardings_of(points: pl.DataFrame) -> list[str]:
    """The words for who forwards, from the host to the adapter."""
    here = set(points["forwarding"])
    return [words for name, words in FORWARDINGS.items() if name in here]


def methods_of(points: pl.DataFrame) -> list[str]:
    """The ways that are there, in their usual order; with other numbers of parts last."""
    here = set(points["method"])
    known = [name for name in METHODS if name in here]
    return [*known, *sorted(here.difference(known))]
