# SPDX-License-Identifier: Apache-2.0
"""Panels: one file, one picture or table of the report."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import altair as alt
import polars as pl

from nhalf.results import Row, parts, results
from nhalf.statistics.summary import launch_medians

if TYPE_CHECKING:
    from nhalf.machines.machine import FittedModel
    from nhalf.store.places import Place, Start


@dataclass(frozen=True)
class ReportData:
    """Everything a panel may read: the store's frames and the fitted models, never another panel.

    `measurements` and `summary` have the columns of store/schema.py; `titles` gives the words for
    a library's name ('mpich-5.0.2' -> 'MPICH 5.0.2 (wheel)'); `environments` one mapping per run.
    """

    measurements: pl.LazyFrame
    summary: pl.DataFrame
    models: list[FittedModel] = field(default_factory=list)
    titles: dict[str, str] = field(default_factory=dict)
    environments: dict[str, dict[str, Any]] = field(default_factory=dict)
    find_places: Callable[[], dict[str, dict[Start, list[Place]]]] = dict

    @cached_property
    def launches(self) -> pl.DataFrame:
        """One row per point and launch: run, the point's columns, launch, `median_s`, `samples`.

        Raw samples are reduced here, once for all panels: a report never embeds them.
        """
        return launch_medians(self.measurements)

    @cached_property
    def places(self) -> dict[str, dict[Start, list[Place]]]:
        """By run and way to start, rank by rank where the ranks were, as far as it was recorded.

        Looked up when it is first asked for, since a journal may be long.
        """
        return self.find_places()

    @cached_property
    def whole(self) -> pl.DataFrame:
        """The rows of `summary` that mean something alone: no parts of derived results."""
        return self.summary.filter(~pl.col("pattern").is_in(list(parts())))

    @cached_property
    def results(self) -> dict[str, list[Row]]:
        """The rows of every derived result of the data, by its name (nhalf.results)."""
        return results(self.measurements, self.summary, lambda: self.places)


@dataclass(frozen=True)
class Table:
    """A panel that is a table: column titles and rows of text."""

    columns: list[str]
    rows: list[list[str]]


class Panel(ABC):
    """One picture or table, shown in `order`, hidden where there is no data for it."""

    title: ClassVar[str]
    how_to_read: ClassVar[str]
    """One sentence for a reader who is new to the field."""
    order: ClassVar[int]

    @abstractmethod
    def render(self, data: ReportData) -> alt.TopLevelMixin | Table | None:
        """The chart or table; None when the data holds nothing for it."""
