# SPDX-License-Identifier: Apache-2.0
"""The report of a traced program: one HTML file, or its charts as pictures."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from nhalf.base.files import write_bytes
from nhalf.base.plugins import load
from nhalf.base.units import format_time
from nhalf.facts.program.program import Program
from nhalf.present.program.findings import program_findings
from nhalf.present.program.panels import ProgramPanel
from nhalf.present.report.caption import captioned
from nhalf.present.report.images import picture, table_csv
from nhalf.present.report.page import Section, card, rendered, section_of
from nhalf.present.wording import count, percent

LEAD_FINDINGS = 3
FOOTER = (
    "The calls of the program were counted while it ran. Times are those inside MPI calls; "
    "waiting is the whole time of waits, probes and barriers, and what any other call took beyond "
    "the shortest one with the same partner and size."
)


def program_page(program: Program) -> str:
    """The whole report as HTML."""
    found = program_findings(program)
    return rendered(
        title=program.command or program.name,
        subtitle=_subtitle(program),
        sureness=_figures(program),
        footer=FOOTER,
        lead=[card(finding) for finding in found[:LEAD_FINDINGS]],
        others=[card(finding) for finding in found[LEAD_FINDINGS:]],
        libraries=[],
        sections=sections(program),
    )


def sections(program: Program) -> list[Section]:
    """Every panel that has something to show, in order."""
    panels = load("nhalf.present.program.panels", ProgramPanel)
    shown = []
    for name, kind in sorted(panels.items(), key=lambda item: (item[1].order, item[0])):
        section = section_of(name, kind, kind().render(program))
        if section is not None and section.spec is not None:
            spec = captioned(section.spec, program.command or program.name, [_subtitle(program)])
            section = dataclasses.replace(section, spec=spec)
        if section is not None:
            shown.append(section)
    return shown


def write_program_images(program: Program, folder: Path, kind: str) -> list[Path]:
    """One file per panel: png or svg, and CSV where it is a table. Raises MissingError."""
    written = []
    for section in sections(program):
        if section.table is not None:
            name, content = f"{section.name}.csv", table_csv(section.table)
        else:
            name, content = f"{section.name}.{kind}", picture(section.spec or {}, kind)
        written.append(write_bytes(folder / name, content))
    return written


def _subtitle(program: Program) -> str:
    hosts = len(set(program.hosts))
    parts = [
        program.library,
        count(program.ranks, "rank"),
        count(hosts, "host") if hosts > 1 else "".join(set(program.hosts)),
        "" if program.trace.complete else "incomplete",
    ]
    return " · ".join(part for part in parts if part)


def _figures(program: Program) -> list[tuple[str, str]]:
    """The box of numbers: how long, how many, how much of it in MPI."""
    shares = program.time_by_rank["time_share"].drop_nulls()
    figures = [
        (format_time(program.elapsed_s), "from MPI_Init to MPI_Finalize"),
        (f"{program.messages['count'].sum():,}".replace(",", " "), "messages between ranks"),
    ]
    if shares.len():
        figures.append((percent(float(sum(shares) / shares.len())), "of the run in MPI"))
    return [*figures, (program.shape.name or "irregular", "pattern of point-to-point messages")]
