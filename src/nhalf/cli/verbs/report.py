"""`nhalf report`: one HTML file, or a folder of images, from one or several runs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from nhalf.base.errors import FailedError, InputError, unknown
from nhalf.base.request import option, word
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, JsonOption
from nhalf.cli.sides import announce, facts_of, newest_run, print_skipped, readable, run_and_library
from nhalf.present.report import check_place, write_report
from nhalf.present.terminal.output import emit_json, print_lines, stdout_console

with lazily(globals()):
    from nhalf.cli.sides import machine_and_library
    from nhalf.facts.facts import Facts, Overlay
    from nhalf.facts.overlay import of_machine, of_run
    from nhalf.facts.program.program import Program
    from nhalf.machines.catalogue import is_machine
    from nhalf.measure.traced.tables import is_trace
    from nhalf.present.findings import as_json as finding_json
    from nhalf.present.findings import findings
    from nhalf.present.report.images import write_images
    from nhalf.store.run import Run

GROUP = "look"
FORMATS = ("html", "png", "svg", "pdf")
NAMED = 3
"""More runs are counted in the name of a page."""


@dataclass(frozen=True, kw_only=True)
class Request(JsonOption, heading=OUTPUT):
    """The runs to report, and the form of the report."""

    runs: tuple[Path, ...] = word(
        (),
        "Runs, RUN:LIBRARY for one library, or one trace; default: the newest in ./runs.",
        "RUN...",
    )
    out: Path | None = option(
        None, "Output file (html) or folder (png, svg, pdf); default: in the first run."
    )
    kind: str = option(
        "html", "Output: html, png, svg or pdf.", "--format", metavar="html|png|svg|pdf"
    )
    overlay: str = option(
        "",
        "Draw this behind the curves: an earlier run, a machine of record or a machine file.",
        metavar="RUN|MACHINE",
        heading="What to report",
    )


def command(request: Request) -> int:
    """Write a report: verdict, findings and charts in one self-contained file.

    The exit code is 1 if data arrived wrong.

    nhalf report runs/today
    nhalf report runs/before runs/after --out both.html
    nhalf report runs/today --overlay runs/before
    nhalf report runs/today:openmpi --overlay sp2-mpl
    nhalf report runs/today --format svg
    """
    if request.kind not in FORMATS:
        raise unknown("format", request.kind, FORMATS)
    request = replace(request, runs=request.runs or (newest_run(),))
    traced = [path for path in request.runs if is_trace(path)]
    if traced and len(request.runs) > 1:
        raise InputError(f"{traced[0]} is a trace", "report traces one at a time")
    if traced and request.overlay:
        raise InputError(f"{traced[0]} is a trace", "leave out --overlay")
    unreadable: dict[str, str] = {}
    if not traced:
        runs, unreadable = readable(request.runs)
        request = replace(request, runs=tuple(runs))
        print_skipped(unreadable.values())
    subject = Program.open(traced[0]) if traced else _facts(request)
    is_wrong = not isinstance(subject, Program) and announce(subject, request)
    report_path = _write(subject, request)
    if request.json:
        rows = [finding_json(finding) for finding in findings(subject)]
        skipped = [{"run": run, "reason": reason} for run, reason in unreadable.items()]
        emit_json({"report": str(report_path), "findings": rows, "skipped": skipped})
    else:
        print_lines(stdout_console(), f"report: {report_path}")
    if is_wrong:
        return FailedError.exit_code
    return InputError.exit_code if unreadable else 0


def _facts(request: Request) -> Facts:
    """The facts of measured runs, with what is drawn behind them."""
    facts = facts_of(request.runs)
    if request.overlay:
        facts = facts.with_known(overlay=_overlay(facts, request.overlay))
    return facts


def _overlay(facts: Facts, text: str) -> Overlay:
    """The data to draw behind the curves: RUN, RUN:LIBRARY, MACHINE or MACHINE:LIBRARY."""
    name = text if is_machine(text) else text.rpartition(":")[0] or text
    if is_machine(name) or not (Path(text).exists() or Path(name).exists()):
        return of_machine(facts, *machine_and_library(text))
    return of_run(facts, facts_of([text]), run_and_library(text)[0].name)


def _usual_name(sides: Sequence[tuple[Run, str]]) -> str:
    """The name of a page, apart from that of the first run alone: it must not take its place."""
    (first, library), *further = sides
    parts = ["report", *filter(None, [library])]
    if further:
        parts += ["with", *(_name(run, mpi, first) for run, mpi in further[:NAMED])]
    if len(further) > NAMED:
        parts.append(f"and-{len(further) - NAMED}-more")
    return "-".join(parts)


def _name(run: Run, library: str, first: Run) -> str:
    """A run in a file's name; runs of one name may lie in several folders."""
    folder = run.path.resolve().parent
    folder_name = "" if folder == first.path.resolve().parent else folder.name
    return "-".join(filter(None, (folder_name, run.name, library)))


def _write(subject: Facts | Program, request: Request) -> Path:
    """Write the report in the requested form; returns its file or folder, absolute."""
    first = request.runs[0]
    if isinstance(subject, Facts):
        sides = [run_and_library(run) for run in request.runs]
        run, name = sides[0][0].path, _usual_name(sides)
    else:
        run, name = first, "report"
    if request.kind == "html":
        if request.out is not None:
            check_place(request.out, run if name == "report" else None)
        return write_report(subject, request.out or run / f"{name}.html").absolute()
    folder = request.out or run / f"{name}-{request.kind}"
    write_images(subject, folder, request.kind)
    return folder.absolute()
