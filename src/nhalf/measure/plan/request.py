"""Requests of measurements: texts, parsed once; planning.py turns them into a plan."""

from __future__ import annotations

import functools
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from nhalf.base.errors import InputError
from nhalf.base.request import Request, option, word
from nhalf.base.units import parse_duration

if TYPE_CHECKING:
    from nhalf.sites.placement import Placement

WHAT, WHERE, EFFORT = "What to measure", "Where", "How long, how sure"


def words(text: str) -> list[str]:
    """Split a list into its words, each once. Raises InputError for an empty list."""
    names = [word.strip() for word in text.split(",") if word.strip()]
    if not names:
        raise InputError(f"{text!r} names nothing", "give names separated by commas")
    return list(dict.fromkeys(names))


def parse_placements(text: str) -> tuple[Placement, ...]:
    """Parse a list of placements, which may be unknown. Raises InputError for an empty list."""
    from nhalf.sites.placement import Placement

    return tuple(map(Placement.parse, words(text)))


@dataclass(frozen=True, kw_only=True)
class Where(Request, heading=WHERE):
    """The hosts and their launcher; the default is this machine, or the current allocation."""

    hosts: str = option("", "Hosts, e.g. n1,n2 or n[1-4] or n1:8 (cores).")
    host_file: Path | None = option(None, "File of hosts, one per line.")
    launcher: str = option(
        "", "Launcher: mpirun, hydra, srun or an added one (default: each library's own)."
    )

    @property
    def host_file_path(self) -> str:
        """The absolute path of the host file; '' without one."""
        return str(self.host_file.resolve()) if self.host_file else ""


@dataclass(frozen=True, kw_only=True)
class OnMachine(Request, heading=WHERE):
    """A simulated machine."""

    machine: str = option(
        "",
        "In virtual time, on the network of this machine: name (nhalf machines list), machine "
        "file or run.",
    )
    noise: str = option(
        "",
        "With --machine: lengthen messages and computing at random, by this share in the mean, "
        "e.g. 10%; by --seed, another in every launch.",
    )
    computing: str = option(
        "none",
        "With --machine, the time between MPI calls: none, measured:FACTOR (processor time by "
        "a factor), or a processor, e.g. power2.",
    )


@dataclass(frozen=True, kw_only=True)
class StartOptions(Request, heading=EFFORT):
    """How libraries are found and started."""

    mpi_prefix: tuple[Path, ...] = option(
        (), "Install folder of another MPI library; repeatable.", heading=WHERE
    )
    seed: int = option(
        1, "Seed for the random order of launches and points, and for --noise.", least=0
    )
    timeout: str = option("60s", "Give up on a library that has not answered for this long.")

    @property
    def mpi_prefixes(self) -> list[str]:
        """The absolute paths of the install folders."""
        return [str(path.resolve()) for path in self.mpi_prefix]

    @functools.cached_property
    def timeout_s(self) -> float:
        """The timeout in seconds. Raises InputError if it is not a duration."""
        return parse_duration(self.timeout)


@dataclass(frozen=True, kw_only=True)
class Patterns(Request, heading=WHAT):
    """Patterns and the values of their axes, or a study that names them."""

    study: str = word("", "Study name (nhalf run --list) or TOML file.")
    pattern: str = option(
        "pingpong", "Patterns, separated by commas, or all; selects from a study."
    )
    ranks: str = option("2", "Numbers of ranks, e.g. 2,4,8 or 2:cores:x2.")
    sizes: str = option(
        "0:4M", "Message sizes: a range 0:4M, a list 0,8,4K or a grid 0:2000:1.", "--bytes"
    )
    axis: tuple[str, ...] = option(
        (), "Values of an axis, e.g. pairs=1,2,4, pairs=1:ranks/2:x2, part=1K; repeatable."
    )
    soak: str = option(
        "",
        "Instead: this many calls of one pattern in one launch, e.g. 1e6, to see whether time, "
        "memory or descriptors grow.",
    )
    algorithm: str = option(
        "", "Algorithms of collective operations, e.g. native,binomial, or all."
    )
    placement: str = option(
        "cores",
        "Placements, separated by commas: cores, free, same-cache, same-node, "
        "other-node, 4x2 (hosts x ranks) or 4x2+1 (one more).",
    )

    @functools.cached_property
    def placements(self) -> tuple[Placement, ...]:
        """The placements as parsed, which may be unknown. Raises InputError for none."""
        return parse_placements(self.placement)


@dataclass(frozen=True, kw_only=True)
class Subjects(Request, heading=WHAT):
    """What carries the messages."""

    transport: str = option(
        "mpi",
        "Transports, separated by commas: mpi, rma, shm, shmq, am, tcp, ucx, ofi, shmem, pvm, "
        "nccl, threads, model.",
    )
    mpi: str = option(
        "all", "MPI libraries, separated by commas, or all; NAME=PREFIX names a build."
    )
    setting: tuple[str, ...] = option(
        (),
        'Also measure each library with these environment variables: "NAME: '
        'VAR=value"; repeatable.',
    )
    model: str = option("", "Parameters of the model transport: o_s=1e-6,L=5e-6,...")


@dataclass(frozen=True, kw_only=True)
class Effort(StartOptions, heading=EFFORT):
    """How much to measure, and how precise the result has to be."""

    launches: int = option(
        5,
        "Launches of each library. Without it, --budget makes as many as give the narrowest "
        "intervals.",
        least=1,
    )
    budget: str = option(
        "",
        "Time to measure, e.g. 60s, without starting, compiling and the summary; spare time "
        "becomes launches. Default: that of the study, or about 14 s for each pattern on each "
        "library (applications: no limit), in which all launches are made, of fewer sizes if "
        "need be.",
    )
    precision: float = option(
        0.03, "Target relative half-width of the interval over launches.", is_share=True
    )

    @functools.cached_property
    def budget_s(self) -> float:
        """The budget in seconds, 0 without one. Raises InputError if it is not a duration."""
        return parse_duration(self.budget) if self.budget else 0.0


@dataclass(frozen=True, kw_only=True)
class PlanRequest(Patterns, Subjects, Effort, Where):
    """Everything needed for a plan; options that are `given` override those of a study."""
