# SPDX-License-Identifier: Apache-2.0
"""`nhalf check`: does a run meet what was promised?"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from nhalf.base.errors import InputError
from nhalf.base.listing import few
from nhalf.base.request import Option, Word
from nhalf.base.units import format_size
from nhalf.cli.options import OUTPUT, Tables
from nhalf.decide.check.verdict import format_bounds, format_excess, format_place, format_value

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console
    from rich.table import Table

    from nhalf.decide.check.verdict import Answer, Check, PointVerdict, Verdict
    from nhalf.store.run import Run

COLOURS = {"missed": "red", "not measured": "magenta", "unclear": "yellow", "met": "green"}
CURVE_WORDS = ("transport", "mpi", "pattern", "ranks", "placement", "axes")
TOLD_MAX = 8


@dataclass(frozen=True, kw_only=True)
class Request(Tables, heading="Against what"):
    """Which run is checked against what."""

    run: Annotated[Path, Word("RUN or RUN:LIBRARY.")]
    expect: Annotated[
        str, Option("Expectations: TOML file, baseline run, machine file or machine name.")
    ] = ""
    against: Annotated[Path | None, Option("Baseline run: fail if anything is slower.")] = None
    tolerance: Annotated[
        str,
        Option(
            "Allowed slowdown, e.g. 5% (default: 10% against runs and machines; for "
            "promises, as the file says)."
        ),
    ] = ""
    pattern: Annotated[str, Option("Only this pattern.")] = ""
    mpi: Annotated[str, Option("Only this library.")] = ""
    strict: Annotated[bool, Option("Also fail when the interval is inconclusive.")] = False
    points: Annotated[
        bool, Option("Show every point, not only the worst of each expectation.", heading=OUTPUT)
    ] = False
    junit: Annotated[Path | None, Option("Also write JUnit XML for CI.", heading=OUTPUT)] = None


def command(request: Request) -> int:
    """Check a run against promises or a baseline; exit code 1 if it is worse or incomplete.

    nhalf check runs/today --against runs/accepted
    nhalf check runs/today --expect promise.toml --junit check.xml
    nhalf check runs/today:openmpi --expect sp2-mpl --tolerance 20%
    """
    from nhalf.base.units import parse_share
    from nhalf.cli.run_side import run_and_library
    from nhalf.decide.check.expected import check
    from nhalf.decide.check.regression import regression_json
    from nhalf.facts.facts import Facts
    from nhalf.present.terminal.effects import show_effects
    from nhalf.present.terminal.output import emit_json, stdout_console

    opened, mpi = run_and_library(request.run, request.mpi)
    expect = _expected(request)
    share = parse_share(request.tolerance) if request.tolerance else None
    found = check(Facts.of([opened]), expect, tolerance=share, pattern=request.pattern, mpi=mpi)
    if request.junit is not None:
        _write_junit(request.junit, found, opened, expect, request.strict)
    if request.json:
        told = regression_json(found) if request.against else {}
        emit_json({"run": str(opened.path), "expect": expect, **told, **found.as_json()})
    else:
        _show(stdout_console(), found, opened, expect, request.points)
        if request.against:
            show_effects(stdout_console(), found)
    return 1 if found.failed(request.strict) else 0


def _expected(request: Request) -> str:
    """What was promised: a file, a machine, or a former run."""
    from nhalf.store.run import Run

    if request.against is not None:
        if request.expect:
            raise InputError("--against and --expect are two questions", "ask one of them")
        return str(Run.open(request.against).path)
    if not request.expect:
        raise InputError("nothing to check the run against", "give --against RUN or --expect FILE")
    return request.expect


def _write_junit(path: Path, found: Check, run: Run, expect: str, strict: bool) -> None:
    import polars as pl

    from nhalf.base.files import write_bytes
    from nhalf.decide.check.junit import junit

    began = pl.col("started_s")
    times = run.measurements().select(low=began.min(), high=began.max()).collect().row(0)
    content = junit(
        found,
        name=Path(expect).stem or expect,
        host=str(run.environment.get("host") or run.environment.get("hostname") or ""),
        started_s=times[0] or 0.0,
        time_s=(times[1] or 0.0) - (times[0] or 0.0),
        strict=strict,
    )
    write_bytes(path, content, "choose another place with --junit")


def _show(console: Console, found: Check, run: Run, expect: str, every: bool) -> None:
    """The table, worst first, and below it what is to be known of it."""
    answers = found.worst_first()
    shared = _shared(answers)
    if shared:
        console.print(format_place(shared), markup=False)
    console.print(_table(answers, every, shared))
    lines = [*_sources(answers), *_reasons(answers, shared), *_left_out(found), *found.notes]
    if found.counts()["unclear"]:
        lines.append("unclear is what the intervals leave open: more launches narrow them")
    for line in lines:
        console.print(line, markup=False, style="dim", soft_wrap=True)
    counts = ", ".join(f"{count} {name}" for name, count in found.counts().items() if count)
    told = {"missed": "does not meet", "not measured": "lacks points of", "met": "meets"}
    verb = told.get(found.verdict, "is not shown to meet")
    text = f"{run.name} {verb} {expect}: {counts}; all intervals hold together with "
    console.print(f"{text}{found.confidence * 100:.3g} %", markup=False, soft_wrap=True)


def _shared(answers: Sequence[Answer]) -> dict[str, Any]:
    """What all points have in common but their size: it is said once."""
    points = [point.point for answer in answers for point in answer.points]
    values = {
        column: {point[column] for point in points if column in point} for column in CURVE_WORDS
    }
    return {column: found.pop() for column, found in values.items() if len(found) == 1}


def _sources(answers: Sequence[Answer]) -> list[str]:
    """Who promised what."""
    names: dict[str, list[str]] = {}
    for answer in answers:
        names.setdefault(answer.source, []).append(answer.name)
    return [f"promised by {who}: {'; '.join(what)}" for who, what in names.items() if who]


def _reasons(answers: Sequence[Answer], shared: dict[str, Any]) -> list[str]:
    """Why points have a verdict that no number explains."""
    lines = [
        ": ".join(filter(None, (answer.name, _where(point, shared), point.reason)))
        for answer in answers
        for point in answer.points
        if point.reason
    ]
    return _cut(lines, "further reasons")


def _left_out(found: Check) -> list[str]:
    """The sizes that only one of both has."""
    lines = []
    for entry in found.not_compared:
        sizes = few([format_size(size) for size in entry["bytes"]], 6)
        what = f"{entry['pattern']} of {entry['mpi'] or entry['transport']}, {entry['reason']}"
        lines.append(f"not compared: {what}: {sizes}")
    return _cut(lines, "further groups that were not compared")


def _cut(lines: list[str], what: str) -> list[str]:
    rest = len(lines) - TOLD_MAX
    return [*lines[:TOLD_MAX], f"{rest} {what} (all with --json)"] if rest > 0 else lines


def _table(answers: Sequence[Answer], every: bool, shared: dict[str, Any]) -> Table:
    """A row per expectation, of its worst point; with `every`, a row per point."""
    from rich import box
    from rich.markup import escape
    from rich.table import Table

    table = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    table.add_column("verdict", no_wrap=True)
    table.add_column("expectation", min_width=16)
    for title in ("promised", "measured", "interval", "by how much"):
        table.add_column(title, justify="right", no_wrap=True)
    table.add_column("at" if every else "worst at")
    if not every:
        table.add_column("points", justify="right", no_wrap=True)
    for answer in answers:
        for point in answer.points if every else [answer.worst_point]:
            cells = [answer.name, *_cells(point), _where(point, shared)]
            cells += [] if every else [_share(answer)]
            table.add_row(_verdict(point.verdict), *map(escape, cells))
    return table


def _verdict(verdict: Verdict) -> str:
    return f"[{COLOURS[verdict]}]{verdict}[/]"


def _cells(point: PointVerdict) -> list[str]:
    """Promised, measured, interval, by how much."""
    from nhalf.present.wording import says_nothing

    bounds, measured = point.bounds, point.measured
    is_flag = bounds.low == bounds.high
    is_bounded = not is_flag and (bounds.low > 0 or bounds.high < float("inf"))
    promised = format_bounds(bounds, point.unit) if is_bounded else ""
    if measured is None or is_flag:
        return [promised, "", "", ""]
    if measured.low != measured.low:
        interval = "–"
    elif says_nothing(measured.low, measured.high):
        interval = "unknown"
    else:
        low, high = (format_value(end, point.unit) for end in (measured.low, measured.high))
        interval = f"{low} to {high}"
    return [promised, format_value(measured.median, point.unit), interval, format_excess(point)]


def _share(answer: Answer) -> str:
    """How many of its points have the verdict that decides."""
    same = sum(point.verdict == answer.verdict for point in answer.points)
    return f"{same} of {len(answer.points)}"


def _where(point: PointVerdict, shared: dict[str, Any]) -> str:
    """The point, without what all have in common."""
    own = {name: value for name, value in point.point.items() if name not in shared}
    # The transport stands for the library where there is none.
    own.pop("transport", None) if "mpi" in shared else None
    return format_place(own) or ("all sizes" if "pattern" in point.point else "")
