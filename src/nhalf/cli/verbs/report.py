# SPDX-License-Identifier: Apache-2.0
"""nhalf report: one HTML file, or a folder of pictures, from one or several runs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

from nhalf.base.errors import InputError, unknown
from nhalf.base.request import Option, Word
from nhalf.cli.options import OUTPUT, Json

if TYPE_CHECKING:
    from nhalf.facts.facts import Facts
    from nhalf.present.findings import Finding

FORMATS = ("html", "png", "svg")


@dataclass(frozen=True, kw_only=True)
class Request(Json, heading=OUTPUT):
    """Which runs are reported, and how."""

    runs: Annotated[tuple[Path, ...], Word("Run directories, or one trace.", "RUN...")]
    out: Annotated[
        Path | None, Option("File (html) or folder (png, svg). Default: in the first run.")
    ] = None
    kind: Annotated[str, Option("What to write.", "--format", metavar="html|png|svg")] = "html"


def command(request: Request) -> None:
    """Write the report: findings in words, then charts, in one file that needs no network.

    nhalf report runs/today
    nhalf report runs/before runs/after --out both.html
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
    place, found = _program(request) if traced else _measured(request)
    if request.json:
        told = [finding_json(finding) for finding in found]
        emit_json({"report": str(place), "findings": told})
    else:
        stdout_console().print(f"report: {place}", soft_wrap=True, markup=False, highlight=False)


def _measured(request: Request) -> tuple[Path, list[Finding]]:
    """The report of measured runs, and its findings."""
    from nhalf.facts.facts import Facts
    from nhalf.present.findings import findings
    from nhalf.store.run import Run

    data = Facts.of([Run.open(path) for path in request.runs])
    return _write(data, request.kind, request.out, request.runs[0]), findings(data)


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


def _write(data: Facts, kind: str, out: Path | None, run: Path) -> Path:
    """The report of the data in the form asked for; returns its file or folder, absolute."""
    from nhalf.base.files import write_text
    from nhalf.present.report.images import write_images
    from nhalf.present.report.page import page

    if kind == "html":
        return write_text(out or run / "report.html", page(data)).absolute()
    folder = out or run / f"report-{kind}"
    write_images(data, folder, kind)
    return folder.absolute()
