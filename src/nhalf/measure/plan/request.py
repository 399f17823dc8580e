# SPDX-License-Identifier: Apache-2.0
"""What is asked to be measured, as texts; planning.py makes a plan of it."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated

from nhalf.base.request import Option, Request, Word

WHAT, WHERE, EFFORT = "What to measure", "Where", "How long, how sure"


@dataclass(frozen=True, kw_only=True)
class Where(Request, heading=WHERE):
    """The hosts, and how processes reach them; nothing said is this machine, or the allocation."""

    hosts: Annotated[str, Option("Hosts to measure on: n1,n2 or n[1-4] or n1:8 (cores).")] = ""
    host_file: Annotated[Path | None, Option("A file of hosts, a line each.")] = None
    launcher: Annotated[
        str, Option("mpirun, hydra, srun or one that was added; else each library's own.")
    ] = ""

    @property
    def host_file_path(self) -> str:
        """The host file, absolute; '' where none is given."""
        return str(self.host_file.resolve()) if self.host_file else ""


@dataclass(frozen=True, kw_only=True)
class Started(Request, heading=EFFORT):
    """How libraries are found and started."""

    mpi_prefix: Annotated[
        tuple[Path, ...], Option("Folder of a further MPI library; repeatable.", heading=WHERE)
    ] = ()
    seed: Annotated[int, Option("Of the random orders.", least=0)] = 1
    timeout: Annotated[str, Option("How long a silent library is waited for.")] = "60s"

    @property
    def mpi_prefixes(self) -> list[str]:
        """The folders, absolute."""
        return [str(path.resolve()) for path in self.mpi_prefix]


@dataclass(frozen=True, kw_only=True)
class Patterns(Request, heading=WHAT):
    """Patterns and the values of their axes, or a study that names them."""

    study: Annotated[
        str, Word("A study by name (nhalf run --list), or a TOML file of your own.")
    ] = ""
    pattern: Annotated[
        str, Option("Patterns, separated by commas, or all; of a study only these.")
    ] = "pingpong"
    ranks: Annotated[str, Option("Numbers of ranks: 2,4,8 or 2:cores:x2.")] = "2"
    sizes: Annotated[
        str, Option("Message sizes: a range 0:4M, a list 0,8,4K or a grid 0:2000:1.", "--bytes")
    ] = "0:4M"
    axis: Annotated[
        tuple[str, ...],
        Option("Values of a further axis: pairs=1,2,4 or pairs=1:ranks/2:x2; repeatable."),
    ] = ()
    algorithm: Annotated[
        str, Option("Algorithms of collective operations: native,binomial or all.")
    ] = ""
    placement: Annotated[
        str,
        Option(
            "cores, free, same-cache, same-node, other-node or 4x2 (hosts x ranks); several by "
            "commas."
        ),
    ] = "cores"


@dataclass(frozen=True, kw_only=True)
class Subjects(Request, heading=WHAT):
    """What carries the messages."""

    transport: Annotated[
        str,
        Option(
            "Transports, separated by commas: mpi, rma, shm, shmq, am, tcp, ucx, ofi, shmem, pvm, "
            "threads, model."
        ),
    ] = "mpi"
    mpi: Annotated[str, Option("MPI libraries by name, or all that are here.")] = "all"
    setting: Annotated[
        tuple[str, ...],
        Option('Each library under variables, too: "NAME: VAR=value"; repeatable.'),
    ] = ()
    model: Annotated[str, Option("Parameters of the model transport: o_s=1e-6,L=5e-6,...")] = ""


@dataclass(frozen=True, kw_only=True)
class Effort(Started, heading=EFFORT):
    """How much is done for an answer, and how exact it has to be."""

    launches: Annotated[
        int,
        Option(
            "How often each library is started; with --budget at least, as time allows.", least=1
        ),
    ] = 5
    budget: Annotated[
        str, Option("Time for the whole run, such as 60s; more launches where some is left.")
    ] = ""
    precision: Annotated[
        float, Option("Relative half-width of the interval over launches that is good enough.")
    ] = 0.03


@dataclass(frozen=True, kw_only=True)
class Measuring(Patterns, Subjects, Effort, Where):
    """All that makes a plan. Where a study is named, what is `given` overrides what it says."""
