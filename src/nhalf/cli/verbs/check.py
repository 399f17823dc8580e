"""`nhalf check`: does a run meet what was promised?"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Required, TypedDict

from nhalf.base.errors import InputError
from nhalf.base.files import write_bytes, write_text
from nhalf.base.listing import few
from nhalf.base.numbers import percent, says_nothing
from nhalf.base.request import REQUIRED, option, word
from nhalf.base.units import format_size, parse_share
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, TableOptions
from nhalf.cli.outcome import announce_undecided, with_unclear_runs
from nhalf.cli.sides import announce, names_run, pair_of, run_and_library
from nhalf.decide.check.verdict import (
    UNCLEAR_MAX,
    CheckedRun,
    JudgedExpectation,
    PointVerdict,
    format_bounds,
    format_excess,
    format_place,
    format_value,
    regression_json,
)
from nhalf.present.terminal.output import emit_json, print_lines, stdout_console
from nhalf.present.terminal.tables import print_table

with lazily(globals()):
    from rich import box
    from rich.console import Console
    from rich.table import Table

    from nhalf.decide.check.expectations import template
    from nhalf.decide.check.expected import check
    from nhalf.facts.facts import Facts
    from nhalf.present.junit import junit
    from nhalf.present.terminal.changes import show_effects
    from nhalf.store.run import Run

GROUP = "look"
COLOURS = {"missed": "red", "not measured": "magenta", "unclear": "yellow", "met": "green"}
CURVE_WORDS = ("transport", "mpi", "pattern", "ranks", "placement", "axes")
LINES_MAX = 8


class Sides(TypedDict, total=False):
    """Expectations, the library of a run, and if they are a run, its library."""

    expect: Required[str]
    mpi: str
    former_mpi: str
    took_turns: bool


@dataclass(frozen=True, kw_only=True)
class Request(TableOptions, heading="Against what"):
    """The run to check, and its baseline or expectations."""

    run: Path = word(REQUIRED, "RUN or RUN:LIBRARY.")
    expect: str = option("", "Expectations: TOML file, baseline run, machine file or machine name.")
    against: Path | None = option(None, "Baseline, RUN or RUN:LIBRARY: fail if anything is slower.")
    init: Path | None = option(
        None, "Write a file of expectations from what the run measured, to be edited."
    )
    tolerance: str = option(
        "",
        "Allowed slowdown, e.g. 5% (default: 10% against runs and machines; for "
        "promises, as the file says).",
    )
    pattern: str = option("", "Only this pattern.")
    mpi: str = option("", "Only this library.")
    strict: bool = option(False, "Also fail when the interval is inconclusive.")
    unclear_max: int = option(
        UNCLEAR_MAX,
        "Also fail when an answer is unclear for this many runs in a row, of those in the "
        "folder of RUN; 0: never.",
        metavar="RUNS",
        least=0,
    )
    points: bool = option(
        False, "Show every point, not only the worst of each expectation.", heading=OUTPUT
    )
    junit: Path | None = option(None, "Also write JUnit XML for CI.", heading=OUTPUT)


def command(request: Request) -> int:
    """Check a run against promises or a baseline; exit code 1 if it is worse or incomplete.

    Exit code 4: not worse, but an answer has been unclear for --unclear-max runs in a row.

    nhalf check runs/today --against runs/accepted
    nhalf check runs/accepted --init promise.toml
    nhalf check runs/today --expect promise.toml --junit check.xml
    nhalf check runs/today:openmpi-5 --against runs/accepted:openmpi-4
    nhalf check runs/today:openmpi --expect sp2-mpl --tolerance 20%
    """
    run, mpi = run_and_library(request.run, request.mpi)
    if request.init is not None:
        return _init(request, Facts.of([run]).restricted(pattern=request.pattern, mpi=mpi))
    expect = _expected(request)
    share = parse_share(request.tolerance) if request.tolerance else None
    sides = _sides(expect, run, mpi)
    result = check(Facts.of([run]), tolerance=share, pattern=request.pattern, **sides)
    result = _counted(result, request, run, expect, sides)
    is_wrong = announce(_asked(run, request.pattern, sides), request)
    if request.junit is not None:
        _write_junit(request.junit, result, run, expect, request.strict)
    if request.json:
        effects = regression_json(result) if request.against else {}
        emit_json({"run": str(run.path), "expect": expect, **effects, **result.as_json()})
    elif result.kind == "baseline":
        notes, heading = [*result.notes, *_left_out(result)], f"{run.name} against {expect}:"
        show_effects(stdout_console(), result, run, request.points, notes, heading)
    else:
        _show(stdout_console(), result, run, expect, request.points)
    announce_undecided(result)
    return 1 if is_wrong else result.exit_code(request.strict)


def _counted(
    result: CheckedRun, request: Request, run: Run, expect: str, sides: Sides
) -> CheckedRun:
    """The check with the number of runs in a row for which its answers are unclear."""
    share = parse_share(request.tolerance) if request.tolerance else None

    def check_of(former: Run) -> CheckedRun:
        _, mpi = pair_of((run, sides["mpi"]), (former, ""))
        its = _sides(expect, former, mpi)
        return check(Facts.of([former]), tolerance=share, pattern=request.pattern, **its)

    baseline = Run.open(Path(sides["expect"])) if result.kind == "baseline" else None
    return with_unclear_runs(result, run, baseline, request.unclear_max, check_of)


def _asked(run: Run, pattern: str, sides: Sides) -> Facts:
    """What is asked about: the run, and a baseline."""
    runs, libraries = [run], [sides["mpi"]]
    if names_run(sides["expect"]):
        runs.append(Run.open(Path(sides["expect"])))
        libraries.append(sides.get("former_mpi", ""))
    return Facts.of(runs, libraries).restricted(pattern=pattern)


def _init(request: Request, facts: Facts) -> int:
    """Write the promises of a run; raises InputError if the file is there already."""
    path = request.init or Path()
    if request.expect or request.against is not None or request.json:
        raise InputError("--init checks nothing", "leave out --expect, --against and --json")
    if path.exists():
        raise InputError(f"{path} is there already", "choose another name with --init")
    write_text(path, template(facts, path.name))
    print_lines(stdout_console(), f"expectations: {path}")
    return 0


def _expected(request: Request) -> str:
    """The name of the expectations: a file, a machine, or a baseline run."""
    if request.against is not None:
        if request.expect:
            raise InputError("--against and --expect are two questions", "ask one of them")
        run_and_library(request.against)
        return str(request.against)
    if not request.expect:
        raise InputError(
            "nothing to check the run against",
            "give --against RUN or --expect FILE; --init FILE writes one to begin with",
        )
    return request.expect


def _sides(expect: str, run: Run, mpi: str) -> Sides:
    """The expectations, and the libraries of the run and of a baseline."""
    if not names_run(expect):
        return {"expect": expect, "mpi": mpi}
    baseline, former_mpi = run_and_library(expect)
    former_mpi, mpi = pair_of((baseline, former_mpi), (run, mpi))
    return {
        "expect": str(baseline.path),
        "mpi": mpi,
        "former_mpi": former_mpi,
        "took_turns": baseline.path.resolve() == run.path.resolve(),
    }


def _write_junit(path: Path, result: CheckedRun, run: Run, expect: str, strict: bool) -> None:
    import polars as pl

    began = pl.col("started_s")
    times = run.measurements().select(low=began.min(), high=began.max()).collect().row(0)
    content = junit(
        result,
        name=Path(expect).stem or expect,
        host=str(run.environment.get("host") or run.environment.get("hostname") or ""),
        started_s=times[0] or 0.0,
        time_s=(times[1] or 0.0) - (times[0] or 0.0),
        strict=strict,
    )
    write_bytes(path, content, "choose another place with --junit")


def _show(console: Console, result: CheckedRun, run: Run, expect: str, all_points: bool) -> None:
    """Print the table, worst first, and below it sources, reasons and notes."""
    answers = result.worst_first()
    points = [point.point for answer in answers for point in answer.points]
    values = {
        column: {point[column] for point in points if column in point} for column in CURVE_WORDS
    }
    shared = {column: distinct.pop() for column, distinct in values.items() if len(distinct) == 1}
    if shared:
        console.print(format_place(shared), markup=False)
    print_table(_table(answers, all_points, shared), console)
    lines = [*_sources(answers), *_reasons(answers, shared), *_left_out(result), *result.notes]
    if result.counts()["unclear"]:
        lines.append("unclear is what the intervals leave open: more launches narrow them")
    print_lines(console, *lines, style="dim")
    counts = ", ".join(f"{count} {name}" for name, count in result.counts().items() if count)
    verbs = {"missed": "does not meet", "not measured": "lacks points of", "met": "meets"}
    verb = verbs.get(result.verdict, "is not shown to meet")
    text = f"{run.name} {verb} {expect}: {counts}; all intervals hold together with "
    print_lines(console, f"{text}{percent(result.confidence, None)}")


def _sources(answers: Sequence[JudgedExpectation]) -> list[str]:
    """A line for each source of expectations."""
    names: dict[str, list[str]] = {}
    for answer in answers:
        names.setdefault(answer.source, []).append(answer.name)
    return [
        f"promised by {source}: {'; '.join(expectations)}"
        for source, expectations in names.items()
        if source
    ]


def _reasons(answers: Sequence[JudgedExpectation], shared: dict[str, Any]) -> list[str]:
    """Lines with the reasons of verdicts that no number explains."""
    lines = [
        ": ".join(filter(None, (answer.name, _where(point, shared), point.reason)))
        for answer in answers
        for point in answer.points
        if point.reason
    ]
    return _shortened(lines, "further reasons")


def _left_out(result: CheckedRun) -> list[str]:
    """Lines with the sizes that only one of both runs has."""
    lines = []
    for entry in result.not_compared:
        sizes = few([format_size(size) for size in entry["bytes"]], 6)
        group = f"{entry['pattern']} of {entry['mpi'] or entry['transport']}, {entry['reason']}"
        lines.append(f"not compared: {group}: {sizes}")
    return _shortened(lines, "further groups that were not compared")


def _shortened(lines: list[str], kind: str) -> list[str]:
    hidden_count = len(lines) - LINES_MAX
    return (
        [*lines[:LINES_MAX], f"{hidden_count} {kind} (all with --json)"]
        if hidden_count > 0
        else lines
    )


def _table(answers: Sequence[JudgedExpectation], all_points: bool, shared: dict[str, Any]) -> Table:
    """A row per expectation, of its worst point; with `all_points`, a row per point."""
    from rich.markup import escape

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("verdict", no_wrap=True)
    table.add_column("expectation", min_width=16)
    for title in ("promised", "measured", "interval", "by how much"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("at" if all_points else "worst at")
    if not all_points:
        table.add_column("points", justify="right", no_wrap=True)
    for answer in answers:
        for point in answer.points if all_points else [answer.worst_point]:
            cells = [answer.name, *_cells(point), _where(point, shared)]
            cells += [] if all_points else [_share(answer)]
            table.add_row(f"[{COLOURS[point.verdict]}]{point.verdict}[/]", *map(escape, cells))
    return table


def _cells(point: PointVerdict) -> list[str]:
    """The columns promised, measured, interval and by how much."""
    bounds, measured = point.bounds, point.measured
    is_flag = bounds.low == bounds.high
    is_bounded = not is_flag and (bounds.low > 0 or bounds.high < float("inf"))
    promised = format_bounds(bounds, point.unit) if is_bounded else ""
    if measured is None or is_flag:
        return [promised, "", "", ""]
    if measured.low != measured.low:
        interval = "–"
    elif math.isinf(measured.high):
        interval = f"{format_value(measured.low, point.unit)} or more"
    elif says_nothing(measured.low, measured.high):
        interval = "unknown"
    else:
        low, high = (format_value(end, point.unit) for end in (measured.low, measured.high))
        interval = f"{low} to {high}"
    return [promised, format_value(measured.median, point.unit), interval, format_excess(point)]


def _share(answer: JudgedExpectation) -> str:
    """The number of an expectation's points that have its verdict."""
    deciding_count = sum(point.verdict == answer.verdict for point in answer.points)
    return f"{deciding_count} of {len(answer.points)}"


def _where(point: PointVerdict, shared: dict[str, Any]) -> str:
    """The point's place, without the words that all points share."""
    own = {name: value for name, value in point.point.items() if name not in shared}
    # The transport takes the place of the library if there is none.
    own.pop("transport", None) if "mpi" in shared else None
    return format_place(own) or ("all sizes" if "pattern" in point.point else "")
