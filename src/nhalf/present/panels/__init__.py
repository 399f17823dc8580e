"""Panels: the charts and tables of the report, a class each, in one file a subject."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import ClassVar, Generic, Self, TypeVar

import altair as alt

from nhalf.present.wording import Cell, line

BY_SUBJECT = True


@dataclass(frozen=True)
class Table:
    """A panel that is a table: column titles and rows of text."""

    columns: list[str]
    rows: list[list[str]]

    @classmethod
    def of(
        cls, rows: Iterable[object], columns: Mapping[str, Cell], most: int | None = None
    ) -> Self | None:
        """A table of rows or objects: by title a column, or what makes its cells; None without."""
        cells = [line(row, list(columns.values())) for row in rows]
        if not cells:
            return None
        return cls.shortened(list(columns), cells, len(cells) if most is None else most)

    @classmethod
    def shortened(cls, columns: list[str], rows: list[list[str]], most: int) -> Self:
        """A table of the first `most` rows, with a line that counts those left out."""
        left_out = len(rows) - most
        if left_out <= 0:
            return cls(columns, rows)
        return cls(columns, [*rows[:most], [f"and {left_out} more", *[""] * (len(columns) - 1)]])


Data = TypeVar("Data")


class Panel(ABC, Generic[Data]):
    """One picture or table, shown in `order`, hidden where there is no data for it.

    It reads what is known of runs (`Panel[Facts]`) or of a traced program (`Panel[Program]`).
    """

    title: ClassVar[str]
    how_to_read: ClassVar[str]
    """One sentence for a reader who is new to the field."""
    order: ClassVar[int]
    patterns: ClassVar[Collection[str]] = ()
    """Its subject, for the caption, if its rows do not name patterns themselves."""

    @abstractmethod
    def render(self, data: Data, /) -> alt.TopLevelMixin | Table | None:
        """The chart or table; None when the data holds nothing for it."""
