"""Vendors: one file holds everything nhalf knows about one MPI library.

It defines how a library is recognised, installed, set up, started and bound, and how its collective
operations are tuned. To add a library, put a file into this folder, with the name that
`nhalf mpi list` should show: one class that derives from `Vendor`, and its tuner if it has one. No
other file changes.
"""

import functools
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from nhalf.base import plugins
from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.mpi.job import Launcher
from nhalf.mpi.switch import LibrarySwitch
from nhalf.mpi.tuner import Tuner

PACKAGE = "nhalf.mpi.vendors"


@dataclass(frozen=True)
class Wheel:
    """A library in the package index: its package, the version known to work, further names."""

    package: str
    version: str
    aliases: tuple[str, ...] = ()


@dataclass(frozen=True)
class Loaded:
    """A library that the environment names, such as that of a loaded module."""

    prefix: Path
    version: str


class Vendor(Launcher):
    """An MPI library, which is also the launcher of its own `mpiexec`."""

    title: ClassVar[str]
    """The library's usual name."""

    launcher: ClassVar[str]
    """The name of the library's mpiexec in `--launcher`; libraries of one family share it."""

    version_text: ClassVar[re.Pattern[str]]
    """Where the library prints its version; vendors with more to tell override `version_in`."""

    version_command: ClassVar[tuple[str, ...]] = ()
    """A further program beside the mpiexec to ask if `--version` does not suffice."""

    turn: ClassVar[int] = 0
    """The order in which vendors try to identify an mpiexec: derived libraries come first."""

    wheel: ClassVar[Wheel | None] = None
    """The source for `nhalf mpi install`, None if there is no wheel."""

    compiler_variable: ClassVar[str] = ""
    """The variable that sets the compiler of the library's mpicxx, '' if there is none."""

    linked_as: ClassVar[str] = "libmpi"
    """The name of the needed library in programs built with the library's own header."""

    handles_of: ClassVar[str] = ""
    """The vendor whose header has the same handles, so that its mpicxx can be used instead."""

    pmi: ClassVar[tuple[str, ...]] = ()
    """The process management of usual builds of the library: see `speaks`."""

    folders: ClassVar[tuple[str, ...]] = ()
    """Folders of shared objects below the prefix, in addition to lib and lib64."""

    settings: ClassVar[tuple[str, ...]] = ()
    """Beginnings of the variables that set the library."""

    needed_settings: ClassVar[tuple[str, ...]] = ()
    """Beginnings of those among them without which it may not start."""

    parameter_prefix: ClassVar[str] = ""
    """What stands before the name of one of the library's parameters in the environment."""

    gpu_settings: ClassVar[Mapping[str, str]] = {}
    """The variables with which the library takes buffers in the memory of NVIDIA's GPUs."""

    gpu_over_ucx: ClassVar[bool] = False
    """Whether it takes them by a UCX with CUDA, which its wheel does not have."""

    in_batch: ClassVar[Mapping[str, str]] = {}
    """The variables that the library's own launcher needs within a job of a batch system."""

    daemon_ranks_max: ClassVar[int] = 0
    """How many ranks a daemon of the library's launcher starts for certain; 0 for all."""

    virtual_rank_start_s: ClassVar[float] = 0.1
    """What a rank on the virtual network takes to start, on two cores that do nothing else."""
    virtual_segment_bytes: ClassVar[int] = 0
    """What a rank on the virtual network takes of /dev/shm."""
    knows_virtual_nodes: ClassVar[bool] = True
    """Whether ranks may know who is on their node of a virtual machine, and yet send to them over
    libfabric; else each seems to be alone on its node."""

    no_virtual_shared_memory: ClassVar[str] = ""
    """Why the library's shared memory within nodes cannot be beside libfabric in virtual time."""

    provider_needs: ClassVar[str] = ""
    """What the library needs to send everything over a provider of libfabric."""

    def settings_files(self, prefix: Path) -> Sequence[Path]:
        """The files of the site and of the user that set the library, if they are there."""
        return ()

    def version_in(self, text: str) -> str:
        """The version if `mpiexec --version` of this library printed the text; else ''.

        The output of `version_command` comes after it.
        """
        match = self.version_text.search(text)
        return match[1].rstrip(".") if match else ""

    def loaded(self) -> Loaded | None:
        """The library that a module names, for vendors whose libraries have no mpiexec."""
        return None

    def compiler(self, prefix: Path) -> Path | None:
        """The C++ compiler wrapper, unless it is an mpicxx beside the mpiexec."""
        return None

    def variables(self, prefix: Path) -> dict[str, str]:
        """The variables that programs need beside LD_LIBRARY_PATH, complete values."""
        return {}

    def tuner(self, library: Library, form: str = "") -> Tuner | None:
        """The tuner of the library's algorithms, None if it cannot be tuned.

        `form` is one of the file's forms, '' for the usual one.
        """
        return None

    def eager_limits(self, library: Library) -> dict[str, int]:
        """The eager limits that the library itself names: bytes by parameter; empty if unknown."""
        return {}

    def limits_in_use(
        self,
        limits: Mapping[str, int],
        words: Sequence[str],
        variables: Mapping[str, str],
        *,
        is_on_one_host: bool,
    ) -> dict[str, int]:
        """The eager limits that count in a launch of these words and variables."""
        return dict(limits)

    def switches(self, library: Library) -> Sequence[LibrarySwitch]:
        """The settings of the library that may make a program faster."""
        return ()

    def over_provider(
        self, library: Library, provider: str, installed: Sequence[Library]
    ) -> dict[str, str]:
        """The variables with which all messages go over a provider of libfabric, by its name.

        Shared memory between ranks of a host is left out too. Raises MissingError for a library
        that cannot do that, or that lacks libfabric, which it may share with `installed` ones.
        """
        raise MissingError(
            f"nhalf does not know how {self.title} sends everything over libfabric",
            "choose mpich, openmpi or intel with --mpi",
        )

    def speaks(self, library: Library) -> tuple[str, ...]:
        """The process management that the library speaks, as `srun --mpi` names it, best first.

        It is empty if unknown, which leaves the choice to Slurm.
        """
        return self.pmi

    def variables_under(self, launcher: str, pmi: str) -> dict[str, str]:
        """Further variables for programs under a launcher, with a kind of process management.

        `launcher` is '' for the library's own, `pmi` '' for the launcher's choice. Raises
        MissingError if that is not available.
        """
        return {}


@functools.cache
def vendors() -> dict[str, Vendor]:
    """Every vendor by name, in the order in which they try to identify an mpiexec."""
    classes: dict[str, type[Vendor]] = plugins.load(PACKAGE, Vendor)
    return {name: classes[name]() for name in sorted(classes, key=lambda name: classes[name].turn)}


def vendor_of(library: Library) -> Vendor:
    """The vendor of a library; raises MissingError if its file is gone."""
    if library.vendor not in vendors():
        raise MissingError(
            f"nothing is known of {library.vendor}, the vendor of {library.name}",
            f"known are {', '.join(vendors())}",
        )
    return vendors()[library.vendor]


def libraries_in(version_text: str, names: Iterable[str]) -> list[str]:
    """The libraries among `names` that a text of MPI_Get_library_version can belong to.

    The vendor is recognised by its usual name, the version by its number; if none has the number
    (vendors shorten it), all of the vendor are returned.
    """
    version_text = version_text.replace("(R)", "")
    letters = version_text.casefold()
    vendor = next(
        (n for n, candidate in vendors().items() if candidate.title.casefold() in letters), None
    )
    of_vendor = [name for name in names if vendor is not None and name.startswith(f"{vendor}-")]
    numbered = [
        name
        for name in of_vendor
        if name.removeprefix(f"{vendor}-").partition("+")[0] in version_text
    ]
    return numbered or of_vendor


def eager_limits(libraries: Iterable[Library]) -> dict[str, dict[str, int]]:
    """Bytes by library and parameter; libraries that cannot be asked are left out."""
    limits: dict[str, dict[str, int]] = {}
    for library in libraries:
        try:
            of_library = vendor_of(library).eager_limits(library)
        except MissingError:
            continue
        if of_library:
            limits[library.name] = of_library
    return limits
