# SPDX-License-Identifier: Apache-2.0
"""The transports that probes are made for, and programs that run applications.

Both are what their own files say of themselves.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Collection
from dataclasses import dataclass, replace
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import MissingError

_SAID = re.compile(r"^(?://|#) nhalf-([a-z-]+): (.*)$", re.MULTILINE)
_HEAD = 2000
"""The first lines of a file hold its description."""


@dataclass(frozen=True)
class TransportFile:
    """A transport.

    `needs` is 'MPI' where MPI starts its ranks, 'Threads', 'Java' or '' if they start by
    themselves.
    `links` are the words by which a compiler links what carries its data, `package` the Debian
    package that has it. `carried_by_mpi`: its data is carried by the library that starts it, which
    is then what is measured. A program of an application has a `source` of its own, which is
    compiled with `flags`; transports share that of the probe. It says which application it runs
    (`app`), in which programming `model`, and whether its ranks are `threads` of one process.
    """

    name: str
    needs: str = ""
    links: tuple[str, ...] = ()
    package: str = ""
    carried_by_mpi: bool = False
    source: str = ""
    flags: tuple[str, ...] = ()
    app: str = ""
    model: str = ""
    threads: bool = False

    @property
    def started_by_mpi(self) -> bool:
        """Whether its ranks are those of an MPI program."""
        return self.needs == "MPI"

    @property
    def executable(self) -> str:
        """The name of its compiled program, without the mark of the standard ABI."""
        return self.name if self.source else f"probe-{self.name}"

    @property
    def title(self) -> str:
        """The name of that program in messages."""
        return self.name if self.source else f"the {self.name} probe"

    def described_program(self, app: str) -> dict[str, str | bool]:
        """What a run keeps of a program: its points mean nothing without.

        `app` is what a transport runs as one of its patterns.
        """
        if self.app:
            return {"app": self.app, "model": self.model, "threads": self.threads}
        return {"app": app, "model": self.needs, "threads": not self.started_by_mpi}

    @property
    def header(self) -> str:
        """Its file, as it is included."""
        return f"transports/{self.name}.hpp"


MPI = TransportFile("mpi", "MPI", carried_by_mpi=True)


def transport_files() -> dict[str, TransportFile]:
    """Every transport of the installed sources, by name; simulated ranks are not among them.

    Without the sources only mpi is known.
    """
    try:
        folder = native_files.include_folder()
    except MissingError:
        return {MPI.name: MPI}
    return _read(folder / "transports")


def program_files() -> dict[str, TransportFile]:
    """Every program of an application of the installed sources, by name; none without them."""
    try:
        folder = native_files.include_folder()
    except MissingError:
        return {}
    found = {}
    for path in sorted([*folder.glob("apps/*/*.cpp"), *folder.glob("apps/*/*.sh")]):
        name = path.stem.replace("_", "-")
        program = _described(path, name, str(path.relative_to(folder)))
        if program.needs != "SMPI":
            found[name] = program
    return found


def kernels_of(program: TransportFile) -> list[str]:
    """The kernels of an application that a program has: folders with a file of its model.

    Sources in Java are not installed; every kernel has one.
    """
    folder = native_files.include_folder() / "apps" / program.app
    found = [*folder.glob(f"*/{program.model.lower()}.hpp")] or [*folder.glob("*/openmp.hpp")]
    return sorted(path.parent.name for path in found)


def with_kernels(program: TransportFile, patterns: Collection[str]) -> TransportFile:
    """The program with no more kernels than the patterns name, which compiles in less time."""
    every = kernels_of(program)
    wanted = [name for name in every if f"{program.app}-{name}" in patterns]
    if not wanted or wanted == every:
        return program
    only = (f"-DNHALF_ONLY_{name}" for name in wanted)
    return replace(program, flags=(*program.flags, "-DNHALF_ONLY", *only))


def simulated_program(name: str) -> TransportFile:
    """The program of an application for machines that SMPI simulates.

    Raises MissingError if the sources are not installed.
    """
    path = native_files.include_folder() / f"apps/{name}/{name}_simulated.cpp"
    if not path.is_file():
        raise MissingError(f"{name} has no program for simulated machines", "leave --machine out")
    return _described(path, f"{name}-simulated", f"apps/{name}/{path.name}")


@functools.cache
def _read(folder: Path) -> dict[str, TransportFile]:
    found = {MPI.name: MPI}
    for path in sorted(folder.glob("*.hpp")):
        transport = _described(path, path.stem)
        if transport.needs != "SMPI":
            found[path.stem] = transport
    return found


def _described(path: Path, name: str, source: str = "") -> TransportFile:
    """The description in a file's first lines."""
    with path.open(encoding="utf-8") as file:
        said = dict(_SAID.findall(file.read(_HEAD)))
    return TransportFile(
        name=name,
        needs=said.get("needs", ""),
        links=tuple(said.get("links", "").split()),
        package=said.get("package", ""),
        carried_by_mpi=said.get("data-by", "") == "MPI",
        source=source,
        flags=tuple(said.get("flags", "").split()),
        app=said.get("app", ""),
        model=said.get("model", ""),
        threads=said.get("ranks", "") == "threads",
    )
