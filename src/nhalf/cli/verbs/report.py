# SPDX-License-Identifier: Apache-2.0
"""`nhalf report`: one HTML file, or a folder of images, from one or several runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nhalf.base.errors import InputError, unknown
from nhalf.base.request import Option, Word
from nhalf.cli.options import OUTPUT, JsonOption

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts
    from nhalf.facts.overlay import Overlay
    from nhalf.present.findings import Finding

FORMATS = ("html", "png", "svg")


@dataclass(frozen=True, kw_only=True)
class Request(JsonOption, heading=OUTPUT):
    """The runs to report, and the form of the report."""

    runs: Annotated[
        tuple[Path, ...],
        Word("Runs, RUN:LIBRARY for one library, or one trace.", "RUN..."),
    ]
    out: Annotated[
        Path | None, Option("Output file (html) or folder (png, svg); default: in the first run.")
    ] = None
    kind: Annotated[
        str, Option("Output: html, png or svg.", "--format", metavar="html|png|svg")
    ] = "html"
    overlay: Annotated[
        str,
        Option(
            "Draw this behind the curves: an earlier run, a machine of record or a machine file.",
            metavar="RUN|MACHINE",
            heading="What to report",
        ),
    ] = ""


def command(request: Request) -> None:
    """Write the report: verdict, findings and charts in one self-contained file.

    nhalf report runs/today
    nhalf report runs/before runs/after --out both.html
    nhalf report runs/today --overlay runs/before
    nhalf report runs/today:openmpi --overlay sp2-mpl
    nhalf report runs/today --format svg
    """
    if request.kind not in FORMATS:
        raise unknown("format", request.kind, FORMATS)
    from nhalf.measure.traced.tables import is_trace
    from nhalf.present.findings import as_json as finding_json
    from nhalf.present.terminal.output import emit_json, stdout_console

    traced = [path for path in request.runs if is_trace(path)]
    if traced and len(request.runs) > 1:
        raise InputError(f"{traced[0]} is a trace", "report traces one at a time")
    if traced and request.overlay:
        raise InputError(f"{traced[0]} is a trace", "leave out --overlay")
    report_path, findings = _program(request) if traced else _measured(request)
    if request.json:
        rows = [finding_json(finding) for finding in findings]
        emit_json({"report": str(report_path), "findings": rows})
    else:
        stdout_console().print(
            f"report: {report_path}", soft_wrap=True, markup=False, highlight=False
        )


def _measured(request: Request) -> tuple[Path, list[Finding]]:
    """The report of measured runs, and its findings."""
    from nhalf.cli.run_side import facts_of, run_and_library
    from nhalf.present.findings import findings

    facts = facts_of(request.runs)
    if request.overlay:
        facts = facts.with_known(overlay=_overlay(facts, request.overlay))
    folder = run_and_library(request.runs[0])[0].path
    return _write(facts, request.kind, request.out, folder), findings(facts)


def _overlay(facts: Facts, text: str) -> Overlay:
    """The data to draw behind the curves: RUN, RUN:LIBRARY, MACHINE or MACHINE:LIBRARY."""
    from nhalf.cli.machine_side import machine_and_library
    from nhalf.cli.run_side import facts_of, run_and_library
    from nhalf.facts.overlaid import of_machine, of_run
    from nhalf.machines.catalogue import is_machine

    name = text if is_machine(text) else text.rpartition(":")[0] or text
    if is_machine(name) or not (Path(text).exists() or Path(name).exists()):
        return of_machine(facts, *machine_and_library(text))
    return of_run(facts, facts_of([text]), run_and_library(text)[0].name)


def _program(request: Request) -> tuple[Path, list[Finding]]:
    """The report of a traced program, and its findings."""
    from nhalf.base.files import write_text
    from nhalf.facts.program.program import Program
    from nhalf.present.program.findings import program_findings
    from nhalf.present.program.page import program_page, write_program_images

    run = request.runs[0]
    program = Program.open(run)
    if request.kind == "html":
        place = write_text(request.out or run / "report.html", program_page(program))
    else:
        place = request.out or run / f"report-{request.kind}"
        write_program_images(program, place, request.kind)
    return place.absolute(), program_findings(program)


def _write(facts: Facts, kind: str, out: Path | None, run: Path) -> Path:
    """Write the report in the requested form; returns its file or folder, absolute."""
    from nhalf.base.files import write_text
    from nhalf.present.report.images import write_images
    from nhalf.present.report.page import page

    if kind == "html":
        return write_text(out or run / "report.html", page(facts)).absolute()
    folder = out or run / f"report-{kind}"
    write_images(facts, folder, kind)
    return folder.absolute()
