# SPDX-License-Identifier: Apache-2.0
"""The form of a published study: what to measure, its tables and figures, its conclusions.

No published value is written in it: they come from the machines of record.
"""

from __future__ import annotations

from typing import Literal

import msgspec

from nhalf.base.units import parse_size
from nhalf.measure.plan.catalogue import StudyFile

Figure = (
    Literal["time", "rate", "t0", "r-inf", "n-half", "error"]
    | Literal["b_eff", "per-process", "at-longest", "rings-at-longest", "pingpong"]
)
Unit = Literal["s", "Bps", "bytes", "ratio"]
UNITS: dict[str, Unit] = {"time": "s", "t0": "s", "n-half": "bytes", "error": "ratio"}
"""By figure; all others are rates."""


class Quantity(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One number of a machine: the time of a pattern, a rate, or a parameter of its messages.

    `transport` is that of the machine if it is empty; `ranks` are the most to be taken of a run,
    and a published b_eff has ranks of its own. `phase` is of patterns with phases, and of distances
    between ranks. `machine` is a machine of record that is taken instead of that in question.
    """

    pattern: str
    algorithm: str = "native"
    transport: str = ""
    ranks: int = 2
    bytes: str | int = 0
    figure: Figure = "time"
    phase: Literal["", "first", "middle", "last"] = ""
    machine: str = ""

    @property
    def size_bytes(self) -> int:
        """The size of a message."""
        return self.bytes if isinstance(self.bytes, int) else parse_size(self.bytes)

    @property
    def unit(self) -> Unit:
        """The unit of the number."""
        return UNITS.get(self.figure, "Bps")


class Point(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A published point of a machine of record."""

    machine: str
    pattern: str
    ranks: int = 2
    bytes: str | int | None = None
    axes: str = ""

    @property
    def size_bytes(self) -> int | None:
        """The size of a message; None if there is none."""
        return parse_size(self.bytes) if isinstance(self.bytes, str) else self.bytes


class Conclusion(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A sentence, and a test: a number, or its ratio `over` another, in relation to a limit.

    Without a `limit` it is the published number itself. `drawn_on` are the machines of which the
    study says it; `published` points to what it says, where that is not the number of a formula.
    `not_of` says of records why they cannot tell it, though they predict a number; with fewer than
    `ranks_least` it does not show.
    """

    id: str
    claim: str
    value: Quantity
    over: Quantity | None = None
    relation: Literal["at least", "at most", "about"] = "at least"
    limit: float | None = None
    within_share: float = 0.0
    published: Point | None = None
    ranks_least: int = 2
    drawn_on: list[str] = []
    not_of: dict[str, str] = {}

    @property
    def unit(self) -> Unit:
        """The unit of the number that is tested."""
        return self.value.unit if self.over is None else "ratio"


class Column(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A column of a table of machines."""

    title: str
    value: Quantity


class TableForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A table: one row per machine."""

    id: str
    title: str
    column: list[Column]


class FigureForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A figure as numbers: one row for each place on its axis, one column per machine."""

    id: str
    title: str
    value: Quantity
    axis: Literal["bytes", "ranks"]
    at: list[str | int]


class StudyForm(msgspec.Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A study as written. `measure` is an ordinary study of `nhalf run`.

    `machines` are its machines, each a list of records: one for each transport that was measured.
    """

    title: str
    source: str
    machines: list[list[str]]
    measure: StudyFile
    table: list[TableForm] = []
    figure: list[FigureForm] = []
    conclusion: list[Conclusion] = []
