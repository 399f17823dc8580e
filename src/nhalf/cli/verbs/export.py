"""`nhalf export`: runs, traces and machines in the formats of other programs."""

import sys
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError, unknown
from nhalf.base.files import write_text
from nhalf.base.plugins import load
from nhalf.base.request import option, word
from nhalf.base.units import parse_size
from nhalf.cli.options import OUTPUT, ChangeOptions, TableOptions
from nhalf.cli.sides import facts_of
from nhalf.exchange.exporters import PACKAGE, Exporter, ExportOptions, Subject, the_machine
from nhalf.present.terminal.output import emit_json
from nhalf.present.terminal.tables import show_table

GROUP = "look"


@dataclass(frozen=True, kw_only=True)
class Request(ChangeOptions, TableOptions, heading="What to export"):
    """The subject to export, and the format."""

    subject: Path | None = word(
        None, "Run, RUN:LIBRARY, trace, machine of record or machine file.", "RUN|MACHINE"
    )
    to: str = option("", "Target format; see --list.")
    reframe: bool = option(False, "Same as --to reframe.")
    mpi: str = option("", "Library, if there are several.")
    pattern: str = option("", "Pattern (goal).")
    ranks: int | None = option(None, "Number of ranks (goal, simgrid).", least=1)
    size: str = option("", "Message size (goal).", "--bytes")
    list_: bool = option(False, "List the formats, and exit.")
    out: Path | None = option(None, "Output file; default: standard output.", heading=OUTPUT)


def command(request: Request) -> None:
    """Export to other programs: SimGrid, LogGOPSim, Extra-P, ReFrame, Perfetto, Vampir.

    nhalf export sp2-mpl --to simgrid --out sp2.xml
    nhalf export runs/today --reframe --out nhalf_check.py
    nhalf export --list
    """
    exporters = load(PACKAGE, Exporter)
    if not request.list_ and request.format in ("csv", "markdown"):
        raise InputError("what is exported is no table", "leave out --format, or add --list")
    if request.list_:
        descriptions = {name: exporter.description for name, exporter in exporters.items()}
        _list(descriptions, as_json=request.json)
        return
    if request.reframe and request.to not in ("", "reframe"):
        raise InputError(f"--reframe and --to {request.to} are two formats", "name one")
    name = "reframe" if request.reframe else request.to
    if not name:
        raise InputError("which format?", "name one with --to: " + ", ".join(exporters))
    if name not in exporters:
        raise unknown("format", name, exporters)
    exporter, out = _exporter(request, name, exporters[name]), request.out
    text = _written(exporter, _subject(request.subject, request.set_), out)
    if request.json:
        emit_json({"to": name, "out": None if out is None else str(out.absolute()), "text": text})
    else:
        sys.stdout.write(text if out is None else f"{name}: {out}\n")


def _written(exporter: Exporter, subject: Subject, out: Path | None) -> str:
    """Write the subject to `out`, if given; returns the text, '' for a folder of files."""
    if exporter.is_folder and out is not None:
        exporter.write(subject, out)
        return ""
    text = exporter.text(subject)
    if out is not None:
        write_text(out, text)
    return text


def _exporter(request: Request, name: str, kind: type[Exporter]) -> Exporter:
    """The exporter with the request's choices; raises InputError for one it does not take."""
    size_bytes = parse_size(request.size) if request.size else None
    choices = ExportOptions(request.mpi, request.pattern, request.ranks, size_bytes)
    options = {"--mpi": "mpi", "--pattern": "pattern", "--ranks": "ranks", "--bytes": "size_bytes"}
    for spelling, member in options.items():
        if getattr(choices, member) not in (None, "") and member not in kind.takes:
            raise InputError(f"{name} has no {spelling}", "leave it out")
    return kind(choices)


def _subject(path: Path | None, changes: Sequence[str]) -> Subject:
    """The subject to export; a run becomes a machine if changes are requested.

    Raises InputError if the path is neither a run, a trace nor a machine.
    """
    from nhalf.measure.traced.tables import is_trace

    if path is not None and is_trace(path) and not changes:
        from nhalf.facts.program.program import Program

        return Program.open(path)
    from nhalf.machines import catalogue
    from nhalf.machines.change import change

    subject: Subject = None
    if path is not None:
        is_machine = catalogue.is_machine(path)
        subject = catalogue.machine(path) if is_machine else facts_of([path])
    return change(the_machine(subject, "--set"), changes) if changes else subject


def _list(descriptions: dict[str, str], *, as_json: bool) -> None:
    """Print the formats, one per line."""
    if as_json:
        emit_json(
            {
                "forms": [
                    {"name": name, "what": description}
                    for name, description in descriptions.items()
                ]
            }
        )
    else:
        show_table(("format", "what is written"), list(descriptions.items()))
