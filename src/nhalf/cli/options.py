"""Options shared by several verbs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import unknown
from nhalf.base.request import Request, option

OUTPUT = "Output"
PREDICTED_CORES = 64
"""Value of `cores` in --ranks of a prediction, which is not about the machine at hand."""
FORMATS = ("table", "csv", "json", "markdown")


@dataclass(frozen=True, kw_only=True)
class JsonOption(Request, heading=OUTPUT):
    """The option of all verbs that report something."""

    json: bool = option(False, "Print one JSON object.")


@dataclass(frozen=True, kw_only=True)
class TableOptions(JsonOption, heading=OUTPUT):
    """Options of verbs that print tables; `--json` is short for `--format json`."""

    format: str = option("table", "Output format: table, csv, json or markdown.", metavar="FORMAT")
    json: bool = option(False, "Same as --format json: print one JSON object.")

    def __post_init__(self) -> None:
        """Set `json` for `--format json`. Raises InputError for an unknown format."""
        if self.format not in FORMATS:
            raise unknown("format", self.format, FORMATS)
        if self.format == "json":
            object.__setattr__(self, "json", True)


@dataclass(frozen=True, kw_only=True)
class QuietOption(TableOptions, heading=OUTPUT):
    """Options of verbs that measure."""

    quiet: bool = option(False, "Show no progress, and no summary of what was measured.")

    @property
    def is_silent(self) -> bool:
        """Whether progress and summary are suppressed."""
        return self.quiet or self.json


@dataclass(frozen=True, kw_only=True)
class SecondsOption(Request, heading="Which time counts"):
    """The option of verbs that launch a program again and again."""

    seconds: str = option(
        "",
        "Take the time from the output: a pattern whose group is the number, e.g. "
        "'time = ([0-9.]+)'; default: the wall clock.",
        metavar="PATTERN",
    )


@dataclass(frozen=True, kw_only=True)
class RunOptions(QuietOption, heading=OUTPUT):
    """Options of verbs that create a run."""

    out: Path | None = option(None, "Run directory to create.")
    report: bool = option(False, "Also write the HTML report.")


@dataclass(frozen=True, kw_only=True)
class ChangeOptions(Request, heading="What if"):
    """Options of verbs that take a machine with hypothetical changes."""

    set_: tuple[str, ...] = option((), "Change the machine, e.g. network.bandwidth=2x; repeatable.")


@dataclass(frozen=True, kw_only=True)
class LedgerOptions(Request, heading="Ledger of predictions"):
    """The option of verbs that record predictions or compare them with measurements."""

    ledger: Path | None = option(
        None, "This ledger instead of ledger.jsonl in the user's data folder.", metavar="FILE"
    )


@dataclass(frozen=True, kw_only=True)
class TraceOptions(Request, heading="Of a traced program"):
    """Options of the verb that predicts traced programs."""

    traced_on: str = option(
        "", "Machine of the trace (file or run), to print the prediction error there."
    )
    placement: str = option(
        "",
        "Hosts x ranks on each, e.g. 4x2,2x4 or 3x2+1; default: as traced, or on "
        "another machine with a network node after node. "
        "Of a pattern same-node or 1x8, other-node or 8x1.",
    )
    computing_factor: str = option("1", "Scale the time between MPI calls by this factor.")
    flop_rate: str = option(
        "", "Operations per second of a rank, for SimGrid's traces, which count operations."
    )
    algorithms: Path | None = option(
        None, "Collective operations take the algorithms of this decision table."
    )
    simgrid: bool = option(False, "Simulate the messages with SimGrid, so that they share links.")


@dataclass(frozen=True, kw_only=True)
class PrefixOptions(Request, heading="Where"):
    """Options of verbs that search for MPI libraries."""

    mpi_prefix: tuple[Path, ...] = option(
        (), "Install folder of another MPI library; repeatable (also NHALF_MPI_PREFIXES)."
    )
