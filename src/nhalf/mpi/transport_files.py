"""The transports that probes are made for, and programs that run applications.

Both are described in their own files.
"""

import ctypes.util
import functools
import os
import re
from collections.abc import Collection
from contextlib import suppress
from dataclasses import dataclass, replace
from glob import escape
from importlib.util import find_spec
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.errors import MissingError

_DESCRIPTION = re.compile(r"^(?://|#) nhalf-([a-z-]+): (.*)$", re.MULTILINE)
HYBRID = "Hybrid"
"""The programming model of ranks that have threads."""
_HEAD = 2000
"""The first lines of a file hold its description."""


@dataclass(frozen=True)
class TransportFile:
    """A transport, or a program of an application.

    `needs` is 'MPI' if MPI starts its ranks, 'Threads', 'Java' or '' if they start by themselves.
    `links` are the compiler's words for linking the library that carries its data, `package` the
    Debian package that contains it. One that is loaded when it runs is described by `loads`: its
    name, the variable that names another file, the module and the package of its wheel.
    `carried_by_mpi` means that the library that starts it also carries its data, and is measured.
    A program of an application has a `source` of its own, which is compiled with `flags`;
    transports share that of the probe. It runs the application `app`, in the programming `model`;
    its ranks may be `threads` of one process.
    """

    name: str
    needs: str = ""
    links: tuple[str, ...] = ()
    package: str = ""
    loads: tuple[str, ...] = ()
    carried_by_mpi: bool = False
    source: str = ""
    flags: tuple[str, ...] = ()
    app: str = ""
    model: str = ""
    threads: bool = False

    @property
    def started_by_mpi(self) -> bool:
        """Whether the ranks are those of an MPI program."""
        return self.needs == "MPI"

    @property
    def has_teams(self) -> bool:
        """Whether each rank of an application's program has threads."""
        return self.model == HYBRID

    @property
    def executable(self) -> str:
        """The name of the compiled program, without the suffix of the standard ABI."""
        return self.name if self.source else f"probe-{self.name}"

    @property
    def title(self) -> str:
        """The name of the program in messages."""
        return self.name if self.source else f"the {self.name} probe"

    def described_program(self, app: str) -> dict[str, str | bool]:
        """The description of a program in a run, without which its points mean nothing.

        `app` is the application that a transport runs as one of its patterns.
        """
        if self.app:
            return {"app": self.app, "model": self.model, "threads": self.threads}
        return {"app": app, "model": self.needs, "threads": not self.started_by_mpi}

    @property
    def header(self) -> str:
        """The transport's file as an include path."""
        return f"transports/{self.name}.hpp"


MPI = TransportFile("mpi", "MPI", carried_by_mpi=True)


def transport_files() -> dict[str, TransportFile]:
    """Every transport of the installed sources, by name, except for simulated ranks.

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
    return _read_programs(folder)


def kernels_of(program: TransportFile) -> list[str]:
    """The kernels of an application that a program has: folders with a file of its model.

    Sources in Java are not installed; every kernel has one.
    """
    folder = native_files.include_folder() / "apps" / program.app
    files = [*folder.glob(f"*/{escape(program.model.lower())}.hpp")]
    return sorted(path.parent.name for path in files or [*folder.glob("*/openmp.hpp")])


def with_kernels(program: TransportFile, patterns: Collection[str]) -> TransportFile:
    """The program with no more kernels than the patterns name, which compiles in less time."""
    kernels = kernels_of(program)
    selected = [name for name in kernels if f"{program.app}-{name}" in patterns]
    if not selected or selected == kernels:
        return program
    definitions = (f"-DNHALF_ONLY_{name}" for name in selected)
    return replace(program, flags=(*program.flags, "-DNHALF_ONLY", *definitions))


def simulated_program(name: str) -> TransportFile:
    """The program of an application for machines that SMPI simulates.

    Raises MissingError if the sources are not installed.
    """
    path = native_files.include_folder() / f"apps/{name}/{name}_simulated.cpp"
    if not path.is_file():
        raise MissingError(f"{name} has no program for simulated machines", "leave --machine out")
    return _read_description(path, f"{name}-simulated", f"apps/{name}/{path.name}")


@functools.cache
def _read_programs(folder: Path) -> dict[str, TransportFile]:
    programs = {}
    for path in sorted([*folder.glob("apps/*/*.cpp"), *folder.glob("apps/*/*.sh")]):
        name = path.stem.replace("_", "-")
        program = _read_description(path, name, str(path.relative_to(folder)))
        if program.needs != "SMPI":
            programs[name] = program
    return programs


@functools.cache
def _read(folder: Path) -> dict[str, TransportFile]:
    transports = {MPI.name: MPI}
    for path in sorted(folder.glob("*.hpp")):
        transport = _read_description(path, path.stem)
        if transport.needs != "SMPI":
            transports[path.stem] = transport
    return transports


def _read_description(path: Path, name: str, source: str = "") -> TransportFile:
    """The description in a file's first lines."""
    with path.open(encoding="utf-8") as file:
        values = dict(_DESCRIPTION.findall(file.read(_HEAD)))
    return TransportFile(
        name=name,
        needs=values.get("needs", ""),
        links=tuple(values.get("links", "").split()),
        package=values.get("package", ""),
        loads=tuple(values.get("loads", "").split()),
        carried_by_mpi=values.get("data-by", "") == "MPI",
        source=source,
        flags=tuple(values.get("flags", "").split()),
        app=values.get("app", ""),
        model=values.get("model", ""),
        threads=values.get("ranks", "") == "threads",
    )


def loaded_variables(transport: TransportFile) -> dict[str, str]:
    """The variable that says where a transport's own library is; none where its name suffices.

    It is the file that the user names, else that of its wheel beside nhalf, else what the system
    finds by its name. Raises MissingError if there is none.
    """
    if not transport.loads:
        return {}
    name, variable, module, package = transport.loads
    chosen = os.environ.get(variable, "")
    if chosen and not Path(chosen).is_file():
        message = f"{variable} names {chosen}, which is not a file"
        raise MissingError(message, f"name the file of {name}, or unset {variable}")
    if path := chosen or _of_wheel(module, name):
        return {variable: path}
    if not _is_on_path(name):
        remedy = f"pip install {package}, or name its file in {variable}"
        raise MissingError(f"transport {transport.name} needs {name}, which is not here", remedy)
    return {}


def _of_wheel(module: str, name: str) -> str:
    """The file in a wheel of this Python, '' without one."""
    with suppress(ModuleNotFoundError):
        spec = find_spec(module)
        for folder in (spec and spec.submodule_search_locations) or []:
            if (path := Path(folder) / "lib" / name).is_file():
                return str(path)
    return ""


def _is_on_path(name: str) -> bool:
    """Whether the system's loader has a file of this name."""
    folders = filter(None, os.environ.get("LD_LIBRARY_PATH", "").split(os.pathsep))
    plain = name.removeprefix("lib").partition(".so")[0]
    return any((Path(folder) / name).is_file() for folder in folders) or (
        ctypes.util.find_library(plain) == name
    )
