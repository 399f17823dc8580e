# SPDX-License-Identifier: Apache-2.0
"""Options that several verbs have in common."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from nhalf.base.errors import unknown
from nhalf.base.request import Option, Request

OUTPUT = "Output"
PREDICTED_CORES = 64
"""What `cores` means in --ranks of a prediction: nobody asks about those of the machine at hand."""
FORMATS = ("table", "csv", "json", "markdown")


@dataclass(frozen=True, kw_only=True)
class Json(Request, heading=OUTPUT):
    """What every verb has that reports."""

    json: Annotated[bool, Option("Print one JSON object.")] = False


@dataclass(frozen=True, kw_only=True)
class Tables(Json, heading=OUTPUT):
    """What every verb has that prints tables; `--json` is short for `--format json`."""

    format: Annotated[
        str, Option("Output format: table, csv, json or markdown.", metavar="FORMAT")
    ] = "table"
    json: Annotated[bool, Option("Same as --format json: print one JSON object.")] = False

    def __post_init__(self) -> None:
        """Both ways to ask for JSON mean the same. Raises InputError for an unknown format."""
        if self.format not in FORMATS:
            raise unknown("format", self.format, FORMATS)
        if self.format == "json":
            object.__setattr__(self, "json", True)


@dataclass(frozen=True, kw_only=True)
class Quiet(Tables, heading=OUTPUT):
    """Of verbs that measure."""

    quiet: Annotated[bool, Option("Show neither progress nor summary.")] = False

    @property
    def is_silent(self) -> bool:
        """Whether nobody reads along."""
        return self.quiet or self.json


@dataclass(frozen=True, kw_only=True)
class Measured(Quiet, heading=OUTPUT):
    """Of verbs that make a run."""

    out: Annotated[Path | None, Option("Run directory to create.")] = None
    report: Annotated[bool, Option("Also write the HTML report.")] = False


@dataclass(frozen=True, kw_only=True)
class Changed(Request, heading="What if"):
    """Of verbs that take a machine as it could be."""

    set_: Annotated[
        tuple[str, ...],
        Option("Change the machine, e.g. network.bandwidth=2x; repeatable."),
    ] = ()


@dataclass(frozen=True, kw_only=True)
class OfTraces(Request, heading="Of a traced program"):
    """Of the verb that predicts traced programs."""

    traced_on: Annotated[
        str, Option("Machine of the trace (file or run), to print the prediction error there.")
    ] = ""
    placement: Annotated[str, Option("Hosts x ranks on each, e.g. 4x2; default: as traced.")] = ""
    computing_factor: Annotated[str, Option("Scale the time between MPI calls by this factor.")] = (
        "1"
    )
    algorithms: Annotated[
        Path | None,
        Option("Collective operations take the algorithms of this decision table."),
    ] = None
    simgrid: Annotated[
        bool, Option("Simulate the messages with SimGrid, so that they share links.")
    ] = False


@dataclass(frozen=True, kw_only=True)
class Prefixes(Request, heading="Where"):
    """Of verbs that look for MPI libraries."""

    mpi_prefix: Annotated[
        tuple[Path, ...],
        Option("Install folder of another MPI library; repeatable (also NHALF_MPI_PREFIXES)."),
    ] = ()
