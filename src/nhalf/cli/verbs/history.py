"""`nhalf history`: how did curves of many runs or gates move, and what changed when they did?"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import FailedError, InputError
from nhalf.base.files import write_text
from nhalf.base.printable import say
from nhalf.base.request import option, word
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, TableOptions
from nhalf.cli.sides import announce_these, print_skipped
from nhalf.decide.check.verdict import UNCLEAR_MAX
from nhalf.measure.plan.plan import parse_sizes
from nhalf.present.terminal.output import emit_json, print_lines, stdout_console
from nhalf.store.described import USUAL
from nhalf.store.gates import GateFile, read_places

with lazily(globals()):
    from nhalf.decide.history.cluster import gate_history
    from nhalf.decide.history.history import History, history
    from nhalf.decide.history.levels import usable_runs
    from nhalf.decide.runs_compared import run_changes
    from nhalf.facts.facts import Facts
    from nhalf.facts.wrong_data import WrongData, wrong_data
    from nhalf.present.findings import Finding
    from nhalf.present.findings.compared import change_finding
    from nhalf.present.report import check_place
    from nhalf.present.report.history_page import history_page
    from nhalf.present.terminal.history import as_json, show_history, show_values
    from nhalf.store.collection import distinct
    from nhalf.store.run import Run

GROUP = "look"


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions, heading="Which curves"):
    """The runs or gates, and which of their curves to show."""

    runs: tuple[Path, ...] = word(
        (), "Runs, folders of runs or of gates; default: ./runs.", "RUN..."
    )
    pattern: str = option("", "Only this pattern; of gates: this kind of times, e.g. transfer.")
    mpi: str = option("", "Only this library, in all versions, e.g. openmpi.")
    size: str = option("", "Only these sizes, e.g. 8 or 0:4K.", "--bytes")
    unclear_max: int = option(
        UNCLEAR_MAX,
        "Fail when a curve is unclear against the first run for this many runs in a row; 0: never.",
        metavar="RUNS",
        least=0,
    )
    points: bool = option(False, "Show every run of every curve.", heading=OUTPUT)
    report: Path | None = option(None, "Also write this HTML file.", heading=OUTPUT)


def command(request: Request) -> int:
    """Show each curve over time; exit code 1 if the latest change of any curve is a slowdown.

    Exit code 4: none is slower, but a curve has been unclear for --unclear-max runs in a row.

    Changes are found by circular binary segmentation (Olshen, Venkatraman, Lucito, Wigler 2004) by
    Student's t, their dates by likelihood (Hansen 2000). At most 1 % of histories without a change
    show one, and at most 1 % of the curves with changes are false. Beside a change stands what
    else changed in the environment.

    In a folder of gates every core, memory domain and pair of nodes is a curve, and so is every
    pair of hosts in pair maps of runs; the report then has a map of the whole cluster.

    nhalf history runs
    nhalf history runs --mpi openmpi --bytes 8 --points
    nhalf history runs --report history.html
    nhalf history runs --format csv
    nhalf history /shared/gates --report cluster.html
    """
    if request.report is not None:
        check_place(request.report)
    if gates := read_places(request.runs):
        return _shown(_of_gates(gates, request), [], [], request)
    collection = usable_runs(request.runs or (USUAL,))
    print_skipped(collection.unreadable.values())
    wrong = _wrong(collection.runs, request)
    is_wrong = announce_these(wrong, request)
    try:
        timeline = history(collection.runs, request.pattern, request.mpi, _sizes(request))
    except InputError as error:
        raise (FailedError(error.message, error.remedy) if is_wrong else error) from None
    changes = _changes(collection.runs, timeline, request)
    return _shown(timeline, wrong, changes, request, is_wrong=is_wrong)


def _of_gates(gates: GateFile, request: Request) -> History:
    """The history of gates, of which only --pattern chooses."""
    if gates.unread:
        say(f"{gates.unread} lines of gates cannot be read, and are left out")
    if request.mpi or request.size:
        raise InputError("gates have no libraries and no sizes", "choose with --pattern alone")
    return gate_history(gates.records, request.runs[0], request.pattern)


def _shown(
    timeline: History,
    wrong: Sequence[WrongData],
    changes: Sequence[Finding],
    request: Request,
    *,
    is_wrong: bool = False,
) -> int:
    """Write the page, print the history, and return what a script learns."""
    page_path = None
    if request.report is not None:
        page = history_page(timeline, [curve.headline for curve in wrong], changes)
        page_path = write_text(request.report, page).absolute()
    exit_code = 1 if is_wrong else timeline.exit_code(request.unclear_max)
    if request.json:
        emit_json({**as_json(timeline), "report": str(page_path) if page_path else None})
        return exit_code
    if request.format == "csv":
        show_values(timeline)
    else:
        for finding in changes:
            print_lines(stdout_console(), finding.text)
        show_history(stdout_console(), timeline, request.points)
    if page_path:
        print_lines(stdout_console(), f"report: {page_path}")
    return exit_code


def _changes(runs: Sequence[Run], history: History, request: Request) -> list[Finding]:
    """How runs differ from the first, where they are too few for a change of a curve."""
    import polars as pl

    from nhalf.decide.history.history import RUNS_SURE

    if len(history.started_s) >= RUNS_SURE:
        return []
    runs_by_name = distinct(runs)
    facts = Facts.of([runs_by_name[name] for name in history.started_s])
    conditions = [pl.col("pattern") == request.pattern] if request.pattern else []
    conditions += [pl.col("mpi").str.starts_with(request.mpi)] if request.mpi else []
    conditions += [pl.col("bytes").is_in(sizes)] if (sizes := _sizes(request)) else []
    changes = run_changes(facts.filtered(*conditions) if conditions else facts)
    return [change_finding(change, facts.titles) for change in changes]


def _wrong(runs: Sequence[Run], request: Request) -> list[WrongData]:
    """The curves asked about whose data arrived wrong."""
    return [
        curve
        for curve in (wrong_data(Facts.of(runs)) if runs else ())
        if request.pattern in ("", curve.pattern) and curve.mpi.startswith(request.mpi)
    ]


def _sizes(request: Request) -> tuple[int, ...]:
    return tuple(parse_sizes(request.size).size_bytes) if request.size else ()
