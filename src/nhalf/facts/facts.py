# SPDX-License-Identifier: Apache-2.0
"""What is checked: the points of a run, the models and the results that follow from them."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import Any

import polars as pl

from nhalf.base.errors import unknown
from nhalf.facts.fit import fit_summary
from nhalf.machines.machine import FittedModel
from nhalf.results import Row, results
from nhalf.statistics.same_state import with_flags
from nhalf.statistics.summary import launch_medians, summarise

SUBJECT = ("transport", "mpi", "ranks", "placement")


class Measured:
    """The measurements of one run, and what is derived from them when somebody asks."""

    def __init__(self, measurements: pl.LazyFrame) -> None:
        self.measurements = measurements

    @cached_property
    def summary(self) -> pl.DataFrame:
        """What is reported of every point; what is not said is ''."""
        return summarise(self.measurements).with_columns(pl.col(pl.String).fill_null(""))

    @cached_property
    def medians(self) -> pl.DataFrame:
        """One row per point and launch."""
        return launch_medians(self.measurements).with_columns(pl.col(pl.String).fill_null(""))

    @cached_property
    def flagged(self) -> pl.DataFrame:
        """The same with what a flag between two cores took, `flag_s`."""
        return with_flags(self.medians, self.measurements)

    @cached_property
    def models(self) -> list[FittedModel]:
        """A model of every curve that has enough sizes."""
        return fit_summary(self.measurements, self.summary)

    @cached_property
    def results(self) -> dict[str, list[Row]]:
        """The derived results for which something was measured."""
        return results(self.measurements, self.summary)

    def launches(self, subject: Mapping[str, Any]) -> int:
        """How often the processes of a subject were started: the fewest of its points."""
        rows = self.summary
        for column in SUBJECT:
            rows = rows.filter(pl.col(column) == subject[column])
        return int(rows["launches"].min() or 0)  # type: ignore[arg-type]


def only(measurements: pl.LazyFrame, column: str, wanted: str) -> pl.LazyFrame:
    """The rows with one value, or all where none is wanted.

    Raises InputError when a value is wanted that no row has.
    """
    if not wanted:
        return measurements
    known = measurements.select(pl.col(column).unique()).collect().to_series().to_list()
    if wanted not in known:
        raise unknown("library" if column == "mpi" else column, wanted, known)
    return measurements.filter(pl.col(column) == wanted)
