"""`nhalf try`: run a program on a simulated machine, in virtual time."""

import os
import shutil
import sys
from dataclasses import dataclass, replace

from nhalf.base.errors import InputError, MissingError
from nhalf.base.numbers import span, whole
from nhalf.base.printable import say
from nhalf.base.request import option, word
from nhalf.base.rows import members
from nhalf.base.units import format_size, format_time, parse_duration
from nhalf.cli.lazy import lazily
from nhalf.cli.options import JsonOption
from nhalf.cli.virtual_side import computing_ratio, noise_of
from nhalf.measure.virtual.region import INTERVAL_S, LOG_INTERVAL_S, VirtualProgress
from nhalf.mpi import Library
from nhalf.present.terminal.output import emit_json

with lazily(globals()):
    from nhalf.cli.sides import machine_and_library
    from nhalf.machines.computing import ComputingRatio
    from nhalf.machines.message import Messages
    from nhalf.machines.wires import nodes_of
    from nhalf.measure.traced.layout import refuse_to_trace_each_rank
    from nhalf.measure.virtual.launch import Tried, VirtualLaunch, run
    from nhalf.measure.virtual.machine import start_in_words
    from nhalf.mpi.discover import find, libraries
    from nhalf.mpi.launch_words import is_launcher
    from nhalf.mpi.vendors import vendor_of
    from nhalf.present.wording import count

GROUP = "machine"


@dataclass(frozen=True, kw_only=True)
class Request(JsonOption, heading="On which machine"):
    """The program, and the machine that it runs on."""

    command: tuple[str, ...] = word(
        (), "Program to run: ./program ARGUMENTS…", "PROGRAM…", takes_remaining=True
    )
    machine: str = option("", "Machine of record (nhalf machines list), machine file or run.")
    ranks: int = option(2, "Number of ranks.")
    placement: str = option(
        "",
        "Nodes x ranks on each, e.g. 4x2, 4x2+1 or 4x2:cyclic, or the node of each rank: 0,1,1,0; "
        "default: node after node is filled.",
    )
    mpi: str = option("mpich", "MPI library that runs the program: mpich, openmpi or intel.")
    computing: str = option(
        "none",
        "Time between MPI calls: none, measured:FACTOR (processor time by a factor), or a "
        "processor, e.g. power2 (by its speed and that of `nhalf node` here).",
    )
    noise: str = option(
        "",
        "Lengthen messages and computing at random, by this share in the mean, e.g. 10%; "
        "default: none.",
    )
    seed: int = option(1, "Seed of the noise.", least=0)
    inside: str = option(
        "virtual", "Way of messages within a node: virtual, or library (its own shared memory)."
    )
    timeout: str = option("5m", "Give up on ranks that have sent no message for this long.")


def command(request: Request) -> int:
    """Run an unchanged MPI program on a machine of record, in virtual time.

    The program's output and exit code are its own. Messages take the machine's times, the MPI
    library is the installed one; every run gives the same times.

    nhalf try --machine altix-bx2 --ranks 64 --placement 32x2 -- ./program arguments
    nhalf try --machine sp2-mpl --ranks 16 --mpi openmpi --json -- ./program
    """
    installed = libraries()
    trial, ratio = _trial(request), computing_ratio(request.computing)
    trial = replace(trial, computing_factor=ratio.mean_ratio)
    if not request.json:
        say(start_in_words(trial.library, trial.ranks))
    tried = run(trial, installed, progress=_progress(request))
    if request.json:
        emit_json(
            {
                "engine": "library",
                "machine": trial.messages.machine.name,
                "mpi": trial.library.name,
                "ranks": trial.ranks,
                "noise_share": trial.noise.share,
                "seed": trial.noise.seed if trial.noise.share else None,
                "computing_factor": trial.computing_factor,
                "computing_low": ratio.low,
                "computing_high": ratio.high,
                **members(tried, "virtual_s", "real_s", "messages", "bytes", "exit_code"),
            }
        )
    else:
        say(_summary(trial, tried, ratio))
    return tried.exit_code


def _progress(request: Request) -> VirtualProgress | None:
    """What says how far the program is, in a log less often than on a terminal."""
    if request.json:
        return None
    is_terminal = sys.stderr.isatty()
    return VirtualProgress(say, interval_s=INTERVAL_S if is_terminal else LOG_INTERVAL_S)


def _trial(request: Request) -> VirtualLaunch:
    """What is to run; raises InputError if the request does not say it."""
    if not request.command:
        raise InputError("no program is given", "give it at the end: -- ./program")
    refuse_to_trace_each_rank(request.command)
    if is_launcher(os.path.basename(request.command[0])):
        raise InputError(
            f"nhalf try starts the ranks itself, and {request.command[0]} would in each of them",
            "give the program alone: nhalf try --ranks 4 -- ./program",
        )
    if shutil.which(request.command[0]) is None:
        raise InputError(
            f"{request.command[0]} is no program here that may be run",
            "give the path of one after --, e.g. ./program",
        )
    if not request.machine:
        raise InputError(
            "on which machine?", "name one: --machine altix-bx2; see nhalf machines list"
        )
    if request.ranks < 1:
        raise InputError(f"{request.ranks} ranks cannot run", "give --ranks 2 or more")
    if "seed" in request.given and not request.noise:
        raise InputError("--seed is that of a noise, and there is none", "add --noise 10%")
    machine, library = machine_and_library(request.machine)
    installed = find(request.mpi)
    _check_inside(request.inside, installed)
    return VirtualLaunch(
        messages=Messages(machine, library),
        library=installed,
        command=request.command,
        nodes=nodes_of(machine, request.ranks, request.placement),
        computing_factor=0.0,
        timeout_s=parse_duration(request.timeout),
        noise=noise_of(request.noise, request.seed),
    )


def _check_inside(way: str, library: Library) -> None:
    """Raises for a way of messages within a node that is not possible, which says why."""
    if way == "virtual":
        return
    if way != "library":
        raise InputError(f"{way!r} is not a way within a node", "write virtual or library")
    why = vendor_of(library).no_virtual_shared_memory
    raise MissingError(
        f"--inside library is not possible with {library.name}: "
        + (why or "nhalf has not tried its shared memory in virtual time"),
        "leave it out: messages within a node take the machine's curve for that",
    )


def _summary(trial: VirtualLaunch, tried: Tried, ratio: ComputingRatio) -> str:
    head = f"{count(trial.ranks, 'rank')} of {trial.library.name} on {trial.messages.machine.name}"
    if not tried.has_begun:
        return f"{head}: ended with exit code {tried.exit_code} before MPI_Init did"
    noise, time_s = trial.noise, tried.virtual_s
    # As far off as if nothing but computing took time.
    low_s, high_s = (time_s * end / (ratio.mean_ratio or 1) for end in (ratio.low, ratio.high))
    may_be = span(low_s, high_s, format_time) if ratio.low < ratio.high else ""
    return (
        f"{head}: {format_time(time_s)} virtual{f' ({may_be})' if may_be else ''}, "
        f"{format_time(tried.real_s)} real, "
        f"{whole(tried.messages)} messages of {format_size(tried.bytes)} together"
        + (f", noise of {100 * noise.share:g} % by seed {noise.seed}" if noise.share else "")
    )
