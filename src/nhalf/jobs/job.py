"""The job of a run: three files in the run's directory, which may be empty otherwise.

A directory becomes a run when it has a run.json, so these files may exist before: everything
that belongs to a run stays together and is removed together.
"""

from __future__ import annotations

import contextlib
import os
import shlex
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec

from nhalf.base.errors import InputError, MissingError, unknown
from nhalf.base.files import write_bytes, write_text
from nhalf.base.unreadable import UNREADABLE
from nhalf.sites.batch import BatchSystem, JobRequest, batch_systems
from nhalf.store.run import DESCRIPTION, Run

SCRIPT, OUTPUT, RECORD = "job.sh", "job.out", "job.json"
SHARE, ROOM_S = 1.1, 300.0
"""A job's time: the budget, a tenth more, and this many seconds to start and to end."""
WHY = f"the budget and a tenth of it, and {ROOM_S / 60:.0f} min to start and to end"


class JobRecord(msgspec.Struct, frozen=True):
    """The content of job.json for a submitted job.

    `begin` are the arguments of `nhalf run` that start the run, none if it existed before; they are
    relative to `folder`. `ends` counts how often the run had been completed before, and
    `output_bytes` is the length of the output of earlier jobs; `collected` says whether the end has
    been shown to the user since.
    """

    system: str
    job: str
    folder: str
    begin: list[str] = []
    options: list[str] = []
    nodes: int = 1
    time_s: float = 0.0
    ends: int = 0
    output_bytes: int = 0
    collected: bool = False


@dataclass(frozen=True)
class BatchJob:
    """A run submitted to a batch system."""

    run: Path
    record: JobRecord
    system: BatchSystem


def system_here(name: str = "") -> tuple[str, BatchSystem]:
    """Return the batch system of this name, or '' that of this machine.

    That is the one in whose job this process runs, else the first whose commands are here. Raises
    InputError for an unknown name, MissingError if it is not here.
    """
    systems = batch_systems()
    if name and name not in systems:
        raise unknown("batch system", name, systems)
    own_first = sorted(systems, key=lambda system: not systems[system].job_here(os.environ))
    candidates = [name] if name else own_first
    for candidate in candidates:
        if systems[candidate].is_here():
            return candidate, systems[candidate]
    systems_text = ", ".join(systems[candidate].description for candidate in candidates)
    raise MissingError(
        f"there is no {systems[name].title if name else 'batch system'} here: looked for "
        f"{systems_text}",
        "go to a login node or load its module, or run without --submit",
    )


def job_time_s(budget_s: float) -> float:
    """Return the time limit of a job for a budget; 0, the system's own limit, without one."""
    return SHARE * budget_s + ROOM_S if budget_s else 0.0


def submit(name: str, system: BatchSystem, spec: JobSpec) -> JobRecord:
    """Write the script and submit it.

    Raises InputError if the system refuses the job; the directory is then as it was.
    """
    ends = Run.open(spec.run).ends() if (spec.run / DESCRIPTION).exists() else 0
    output = spec.run / OUTPUT
    earlier_bytes = output.stat().st_size if output.exists() else 0
    text = script_text(system, spec)
    is_new = not spec.run.exists()
    write_text(spec.run / SCRIPT, text, "choose another folder with --out")
    try:
        job = system.submit(spec.run / SCRIPT)
    except BaseException:
        if is_new:
            shutil.rmtree(spec.run, ignore_errors=True)
        elif not (spec.run / RECORD).exists():
            (spec.run / SCRIPT).unlink(missing_ok=True)
        raise
    record = JobRecord(
        system=name,
        job=job,
        folder=str(spec.folder),
        begin=list(spec.begin),
        options=list(spec.options),
        nodes=spec.nodes,
        time_s=spec.time_s,
        ends=ends,
        output_bytes=earlier_bytes,
    )
    write_record(spec.run, record)
    return record


def script_text(system: BatchSystem, spec: JobSpec) -> str:
    """Return the script of a job."""
    request = JobRequest(
        name=f"nhalf-{spec.run.name}",
        output=spec.run / OUTPUT,
        nodes=spec.nodes,
        cores=system.cores_per_host(spec.options),
        hosts=spec.hosts,
        time_s=spec.time_s,
        time_why=WHY,
        options=spec.options,
    )
    program = (sys.executable, "-P", "-m", "nhalf")
    return script(system.directives(request), spec, program, job_variables(os.environ))


def record_of(run: Path) -> JobRecord | None:
    """Read the record of a run's job; None if it has none.

    Raises InputError for a damaged file.
    """
    try:
        return msgspec.json.decode((run / RECORD).read_bytes(), type=JobRecord)
    except FileNotFoundError:
        return None
    except (OSError, *UNREADABLE) as error:
        raise InputError(f"{run / RECORD} cannot be read: {error}", "remove it") from error


def write_record(run: Path, record: JobRecord) -> None:
    """Write the record of a run's job."""
    write_bytes(run / RECORD, msgspec.json.format(msgspec.json.encode(record), indent=2))


def check_free(run: Path) -> None:
    """Raises InputError if a directory holds a run, or waits for a job that makes one."""
    if (run / DESCRIPTION).exists() or (run / RECORD).exists():
        message = f"{run} holds a run already"
        raise InputError(message, f"choose another --out, or go on with: {resume_command(run)}")


def resume_command(run: Path) -> str:
    """Return the command that continues a run as a job."""
    return f"nhalf run --resume {shlex.quote(str(run))} --submit"


def last_words(run: Path, from_bytes: int = 0) -> str:
    """Return the last line of nhalf itself in a job's output after this many bytes, '' for none.

    An error is returned in full; an interruption without its remedy, which differs for a job.
    """
    with contextlib.suppress(OSError):
        with (run / OUTPUT).open("rb") as file:
            file.seek(from_bytes)
            lines = file.read().decode(errors="replace").splitlines()
        own = [line.removeprefix("nhalf: ") for line in lines if line.startswith("nhalf: ")]
        last = own[-1] if own else ""
        return last if last.startswith("error: ") else last.partition("; ")[0]
    return ""


VARIABLES = ("PYTHONPATH", "NHALF_")
"""Variables of the caller that the job needs to find the same nhalf: names or prefixes."""


@dataclass(frozen=True)
class JobSpec:
    """The task of a job and its resources.

    `begin` are the arguments of `nhalf run` for a new run, none if it exists; `resume` those to add
    when it continues.
    """

    run: Path
    folder: Path
    nodes: int
    begin: tuple[str, ...] = ()
    resume: tuple[str, ...] = ()
    hosts: tuple[str, ...] = ()
    options: tuple[str, ...] = ()
    time_s: float = 0.0


def script(
    directives: str, spec: JobSpec, program: Sequence[str], variables: Mapping[str, str]
) -> str:
    """Return the whole script, which calls the `program` nhalf by absolute path.

    One script starts and continues a run, so that it can be started again: by the scheduler after
    the loss of a host, or by hand.
    """
    exports = [f"export {name}={shlex.quote(value)}" for name, value in variables.items()]
    lines = [
        "#!/bin/sh",
        "# A job of nhalf, written by `nhalf run --submit`. Started again, it goes on with what",
        "# is not measured yet.",
        "",
        directives,
        "",
        "# Names of files are those of the folder in which it was submitted.",
        f"cd {shlex.quote(str(spec.folder))} || exit 3",
        "",
        *(["# The same nhalf as that which submitted.", *exports, ""] if exports else []),
        *_start(spec, program),
    ]
    return "\n".join(lines) + "\n"


def job_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """Select the variables that a job needs to find the same nhalf."""
    exact, prefix = VARIABLES
    return {
        name: value
        for name, value in sorted(variables.items())
        if name == exact or name.startswith(prefix)
    }


def _start(spec: JobSpec, program: Sequence[str]) -> list[str]:
    """Return the lines that call nhalf, which replaces the shell to receive signals."""
    resume = _line(program, "run", "--resume", str(spec.run), *spec.resume)
    why = "# nhalf replaces this shell, so that it receives the scheduler's signals."
    if not spec.begin:
        return [why, resume]
    begin = _line(program, "run", *spec.begin, "--out", str(spec.run))
    return [
        why,
        f"if [ -e {shlex.quote(str(spec.run / 'run.json'))} ]; then",
        "    # Begun in a job before this one.",
        f"    {resume}",
        "else",
        f"    {begin}",
        "fi",
    ]


def _line(program: Sequence[str], *words: str) -> str:
    return f"exec {shlex.join([*program, *words])}"
