"""Importers: the output of other benchmark suites becomes points; one file, one suite."""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import msgspec

from nhalf.exchange.logs.part import LogPart, Seconds

PACKAGE = "nhalf.exchange.importers"
UNNAMED = "imported"
"""The library of a log that does not name one."""

Values = Mapping[str, float]


class Imported(msgspec.Struct, frozen=True):
    """One point of a log, in nhalf's names and units.

    `samples_s` holds the one printed time of a message or an operation, or all samples where the
    log has them (`raw`); `bytes_per_time` the bytes that move in it; `ranks` 0 if the log does
    not say; `rank_s` one time per rank if printed; `values` the other printed numbers. `table`
    counts the tables of a log: the same point in another table is another launch. `head` are lines
    above the table that make it another measurement where those of two tables differ.
    """

    pattern: str
    size_bytes: int
    samples_s: Seconds
    ranks: int
    bytes_per_time: int
    table: int
    axes: Mapping[str, str] = {}
    values: Values = {}
    rank_s: Seconds = ()
    transport: str = "mpi"
    mpi: str = UNNAMED
    verified: bool = True
    raw: bool = False
    head: Mapping[str, str] = {}


class Importer(ABC):
    """Reads the logs of one suite.

    `description` names the suite and its versions, `marks` are the words of its headers: a line
    with one of them begins a part of this suite. `head` is the regular expression of where the own
    text of such a line begins: before it are tags. `headless` says that files may have no header.
    """

    description: str
    marks: Sequence[str]
    head: str = ""
    headless = False

    def recognises(self, text: str) -> bool:
        """Whether a line, or a whole text, has a header of this suite."""
        return any(mark in text for mark in self.marks)

    @abstractmethod
    def read(self, part: LogPart) -> list[Imported]:
        """Every valid point of the part; other rows go to `part.pass_over`."""
