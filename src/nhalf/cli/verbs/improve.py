"""`nhalf improve`: find what makes a program faster, and prove it."""

from __future__ import annotations

import os
import shutil
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError, Interrupted, NhalfError, how_ended
from nhalf.base.printable import say
from nhalf.base.request import option, word
from nhalf.base.units import parse_duration
from nhalf.cli.lazy import lazily
from nhalf.cli.options import OUTPUT, QuietOption, SecondsOption
from nhalf.cli.sides import is_program, open_program
from nhalf.experiment.turns import Turns
from nhalf.present.terminal.output import emit_json
from nhalf.present.terminal.tables import show_table

with lazily(globals()):
    from nhalf.experiment.improve.bench import ProgramBench, SameOutput
    from nhalf.experiment.improve.candidates import candidates
    from nhalf.experiment.improve.change import Candidate, Setting, in_order, title
    from nhalf.experiment.improve.forms import form_for
    from nhalf.experiment.improve.left_behind import LeftBehind, leave
    from nhalf.experiment.improve.search import Provable, first, provable, run, search, turns_of
    from nhalf.experiment.improve.situation import (
        Situation,
        own_file_remarks,
        search_folder,
        situation_of,
        traced_or_given,
    )
    from nhalf.experiment.improve.trials import SearchState
    from nhalf.facts.program.program import Program
    from nhalf.measure.launches.timed import printed_time
    from nhalf.mpi.discover import libraries
    from nhalf.mpi.launch_settings import LaunchCommand, ranks_in
    from nhalf.present.improve import (
        effort,
        left_json,
        left_lines,
        provable_json,
        provable_text,
        remarks,
        rows,
        search_json,
        verdict,
    )
    from nhalf.present.program.verdict import program_verdict
    from nhalf.present.wording import count

GROUP = "program"
TRACE_SHARE, TRACE_LEAST_S = 0.25, 10.0
"""The share of the budget that tracing may take, and what it may take in any case."""


@dataclass(frozen=True, kw_only=True)
class Request(SecondsOption, QuietOption, heading="What to improve"):
    """The command, and how its results are checked."""

    command: tuple[str, ...] = word(
        (), "Command to improve: mpiexec -n 4 ./program …", "COMMAND…", takes_remaining=True
    )
    budget: str = option("10m", "Time for the whole search.")
    trace: Path | None = option(
        None,
        "What the program does: a trace, an OTF2 archive, a GOAL schedule, or SimGrid's "
        "time-independent trace; default: the program is traced first.",
    )
    same_output: str = option(
        "",
        "Compare results: exact (equal standard output), or a command that gets the files with "
        "the plain and the changed output and fails if they differ; default: exit codes only.",
    )
    out: Path | None = option(
        None,
        "File to write that switches on what was proven; its ending chooses its form.",
        heading=OUTPUT,
    )
    to: str = option(
        "",
        "Form of the file: script (.sh and others), slurm (.sbatch, .slurm), lmod (.lua), "
        "tcl (.tcl), or tuning (.rules, .json, .env), the library's own.",
        heading=OUTPUT,
    )


def command(request: Request) -> int:
    """Find what makes a program faster, and prove it in turns with the plain program.

    Settings of the MPI library, binding, algorithms: what was proven is switched on by a file
    (--out): a script, a batch script, a module, or the library's own tuning file.

    nhalf improve -- mpiexec -n 8 ./program
    nhalf improve --budget 30m --same-output exact --out improved.sh -- mpiexec -n 8 ./program
    nhalf improve --out job.sbatch -- srun -n 8 ./program
    """
    if not request.command:
        raise InputError("no command is given", "give it at the end: -- mpiexec -n 4 ./program")
    if shutil.which(request.command[0]) is None:
        raise InputError(
            f"cannot start {request.command[0]}: there is no such program",
            "give the command after --",
        )
    budget_s, began_s = parse_duration(request.budget), time.monotonic()
    same_output, printed = SameOutput(request.same_output), printed_time(request.seconds)
    program = _given(request.trace)
    if request.out is None and request.to:
        raise InputError("a form is given and no file", "name the file with --out")
    if request.out is not None:
        form_for(request.out, request.to)
    if request.out is not None and not _is_writable(request.out):
        raise InputError(
            f"cannot write {request.out}", "name a file in a folder that can be written"
        )
    tell = _silent if request.is_silent else say
    situation = _launch(request)
    _check_ranks(program, situation.launch)
    with search_folder(situation.launch) as name:
        bench = ProgramBench(situation.launch, same_output, Path(name, "launches"), printed)
        turns = _turns(bench, budget_s - (time.monotonic() - began_s), tell)
        plain_s = first(turns)
        printed_s = plain_s if printed else None
        # Tracing compiles and reads a lot even for a short program.
        limit_s = min(turns.remaining_s, max(turns.budget_s * TRACE_SHARE, TRACE_LEAST_S))
        situation, remark = traced_or_given(program, situation, Path(name), limit_s, printed_s)
        notes = [*([remark] if remark else []), *own_file_remarks(situation)]
        for note in notes:
            tell(note)
        all_candidates = candidates(situation)
        bounded = [candidate for candidate in all_candidates if not candidate.is_worth_a_launch]
        state = search(turns, in_order(all_candidates))
        _check_mpi(situation, state, bounded)
        possible, error = _run(state, tell)
    _report(request, situation, state, bounded, possible, notes)
    if error is not None:
        raise error
    return 0


def _silent(text: str) -> None:
    """Say nothing of how far the search is."""


def _given(path: Path | None) -> Program | None:
    """The program of a trace that the user names. Raises InputError if it is none."""
    if path is None:
        return None
    if not is_program(path):
        raise InputError(
            f"{path} is no trace", "name a trace, or a program in GOAL, OTF2 or SimGrid's form"
        )
    return open_program(path)


def _check_mpi(situation: Situation, state: SearchState, bounded: list[Candidate]) -> None:
    """Raises InputError if nothing of MPI was seen in a launch, and nothing is to be tried."""
    is_known = situation.library is not None or situation.program is not None
    if not (is_known or state.trials or bounded):
        raise InputError(
            f"there is nothing to improve in {' '.join(situation.launch.words)}: no call of MPI "
            "was traced, and no launcher of an MPI library starts it",
            "give the command that starts the ranks: -- mpiexec -n 4 ./program",
        )


def _check_ranks(program: Program | None, launch: LaunchCommand) -> None:
    """Raises InputError for a trace of another number of ranks than a command starts."""
    started = ranks_in(launch)
    if program is not None and started is not None and started != program.ranks:
        raise InputError(
            f"the trace has {count(program.ranks, 'rank')}, the command starts {started}",
            "give a trace of this launch, or leave out --trace",
        )


def _is_writable(path: Path) -> bool:
    """Whether a file can have this name: neither a folder nor a device has it."""
    parent = path.absolute().parent
    is_free = path.is_file() or not path.exists()
    return parent.is_dir() and is_free and os.access(parent, os.W_OK)


def _launch(request: Request) -> Situation:
    """The launch that the command describes."""
    cores = len(os.sched_getaffinity(0))
    return situation_of(request.command, libraries(), dict(os.environ), cores)


def _turns(bench: ProgramBench, budget_s: float, say: Callable[[str], None]) -> Turns[Setting]:
    """Launches in turns that say how long each took."""

    def report(setting: Setting, time_s: float, problem: str) -> None:
        say(f"{title(setting)}: {problem or f'{time_s:.4g} s'}")

    turns = turns_of(bench, budget_s)
    turns.report = report
    return turns


def _provable(state: SearchState, say: Callable[[str], None]) -> Provable | None:
    """What the search can prove, which it says; None without candidates."""
    if not state.trials:
        return None
    possible = provable(state)
    say(provable_text(possible))
    return possible


def _run(
    state: SearchState, say: Callable[[str], None]
) -> tuple[Provable | None, NhalfError | None]:
    """Run a search; what ended it early is raised after what was learned has been shown."""
    possible = None
    try:
        possible = _provable(state, say)
        run(state)
    except KeyboardInterrupt as error:
        return possible, Interrupted(how_ended(error))
    except NhalfError as error:
        return possible, error
    return possible, None


def _report(
    request: Request,
    situation: Situation,
    state: SearchState,
    bounded: list[Candidate],
    possible: Provable | None,
    notes: list[str],
) -> None:
    """Write what switches the winner on, and print the answer."""
    files = None
    if state.proven:
        files = leave(request.out, request.to, situation, state.proven, remarks(state))
        notes += [files.note] if files.note else []
    if request.json:
        emit_json(
            {
                "command": situation.launch.words,
                "library": situation.library.name if situation.library else None,
                "traced": situation.program is not None,
                **search_json(state, bounded),
                **left_json(files),
                "provable": provable_json(possible),
                "notes": notes,
            }
        )
    else:
        _show(situation, state, bounded, files)


def _show(
    situation: Situation, state: SearchState, bounded: list[Candidate], files: LeftBehind | None
) -> None:
    hint = program_verdict(situation.program) if situation.program is not None else ""
    answer = [*([hint] if hint else []), verdict(state)]
    sys.stdout.write("\n".join(answer) + "\n")
    shown = list(rows(state, bounded))
    if shown:
        sys.stdout.flush()
        show_table(("candidate", "can save", "times as fast", "what became of it"), shown)
    lines = [effort(state), *(left_lines(files) if files is not None else [])]
    sys.stdout.write("\n".join(lines) + "\n")
