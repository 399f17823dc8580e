"""Options shared by several verbs."""

from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import unknown
from nhalf.base.request import REQUIRED, Request, option, word

OUTPUT = "Output"
COMPLETION = "completion"
"""By what algorithms are compared unless `--for` says otherwise."""
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


SIZES = "1:64K"
"""Message sizes of predictions unless others are named."""


@dataclass(frozen=True, kw_only=True)
class PredictRequest(
    TraceOptions, ChangeOptions, TableOptions, LedgerOptions, heading="What to predict"
):
    """What `nhalf predict` predicts, for which machine."""

    subject: str = word(
        REQUIRED,
        "Pattern, one of its algorithms (bcast/binomial), beff, traffic, drain, a traced program, "
        "or the C source of one.",
        "PATTERN|TRACE|PROGRAM.c",
    )
    further_traces: tuple[str, ...] = word(
        (), "Traces of further launches of the same program.", "TRACE..."
    )
    machine: str = option("", "Machine of record (nhalf machines list), machine file or run.")
    mpi: str = option(
        "",
        "Library, if the machine has several; of a traced program a list, or all. An installed "
        "one that the machine does not have is asked what its operations take there.",
    )
    ranks: str = option("2", "Numbers of ranks, e.g. 2,4,8 or 2:32 or 2:256:x2.")
    sizes: str = option(SIZES, "Message sizes: a range 0:4M or a list 0,8,4K.", "--bytes")
    depth: str = option("1:1024:x4", "Of drain: messages in the queue, e.g. 1,100 or 1:1024:x2.")
    part: str = option(
        "", "Size of the parts of algorithms that cut messages; by default the fastest."
    )
    criterion: str = option(
        COMPLETION,
        "By what algorithms are compared: completion, until the root is free (root), or the busy "
        "time of all processors (processors).",
        "--for",
    )
    extrapolate: bool = option(
        False, "Also predict beyond the measured ranks and sizes; such times are marked with *."
    )
    simulate: str = option(
        "",
        "Refine uncertain predictions by simulating this share of the cells, e.g. "
        "15%; needs SimGrid.",
    )
    out: Path | None = option(
        None,
        "Also write a decision table for `nhalf mpi preload`.",
        heading=OUTPUT,
        former=("--table",),
    )
    report: Path | None = option(
        None, "Also write an HTML page with a map of ranks and sizes.", heading=OUTPUT
    )
    record: bool = option(
        False,
        "Also record the predictions in the ledger, to be compared with later runs.",
        heading=OUTPUT,
    )
    formula: str = option(
        "",
        "Print cost formulas for any machine instead of times: text, latex or python.",
        heading=OUTPUT,
    )
