"""Find the MPI libraries of this machine: those in its folders, and those that nhalf installed."""

import os
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from nhalf.base.errors import InputError, MissingError, library_named
from nhalf.base.folders import DATA, mpi_folder, why_not_own
from nhalf.base.rows import members
from nhalf.mpi import Library
from nhalf.mpi.identify import LibraryIdentity, identify
from nhalf.mpi.named_prefix import NamedPrefix, in_prefixes, is_named, meant, only_one, with_origin
from nhalf.mpi.surroundings import library_path, variables
from nhalf.mpi.vendors import vendors

_PARTS = ("", "lib", "bin", "bin/mpiexec", "bin/mpirun")
"""Parts of a prefix that are checked before anything of it runs."""


@dataclass(frozen=True)
class OwnPrefixes:
    """The prefixes that may be used; for others the mpiexec that is not run, and why."""

    prefixes: list[Path] = field(default_factory=list)
    not_run: dict[Path, str] = field(default_factory=dict)


def own_prefixes() -> OwnPrefixes:
    """The prefixes in the data folder, without those that another user could have put there."""
    try:
        folder = mpi_folder()
        names = sorted(os.listdir(folder))
    except MissingError as error:
        return OwnPrefixes(not_run=_whole_folder(error))
    except OSError:  # nothing installed yet, or not ours to read
        return OwnPrefixes()
    own = OwnPrefixes()
    for prefix in (folder / name for name in names if not name.startswith(".")):
        if reason := next(filter(None, (why_not_own(prefix / part) for part in _PARTS)), ""):
            own.not_run[prefix / "bin" / "mpiexec"] = f"not run: {reason}"
        else:
            own.prefixes.append(prefix)
    return own


def _whole_folder(error: MissingError) -> dict[Path, str]:
    """All prefixes as one pattern, since another user may have chosen the names."""
    with suppress(MissingError):
        folder = DATA.place() / "mpi"
        if os.path.isdir(folder):
            return {folder / "*" / "bin" / "mpiexec": error.message}
    return {}


PREFIXES_VARIABLE = "NHALF_MPI_PREFIXES"
ORIGINS = ("wheel", "prefix", "path", "system")
"""Origins in the order of precedence for the plain name 'openmpi-5.0.11' in lists and tables."""

SYSTEM_FOLDERS = ("/usr/local/bin", "/usr/bin")
"""Folders searched even if PATH lacks them, as in some environments of modules."""

_COMPILERS = ("mpicxx", "mpic++", "mpiCC")


@dataclass(frozen=True)
class Broken:
    """An mpiexec that exists but cannot be used, and the reason."""

    mpiexec: Path
    origin: str
    reason: str


@dataclass(frozen=True)
class Discovery:
    """The result of a search: usable libraries by name, and broken ones."""

    libraries: list[Library] = field(default_factory=list)
    broken: list[Broken] = field(default_factory=list)


def libraries(prefixes: Sequence[Path] = ()) -> list[Library]:
    """The usable MPI libraries: own wheels, then given prefixes, then PATH and the system."""
    return discover(prefixes).libraries


def find(name: str, prefixes: Sequence[Path] = ()) -> Library:
    """One library by its name, or the newest whose name starts so ('mpich', 'openmpi-5').

    A library in one of `prefixes`, then one in NHALF_MPI_PREFIXES, takes precedence over others. A
    name of the form NAME=PREFIX is a name for the library in that folder. Raises InputError for an
    unknown or ambiguous name, MissingError if there is no library.
    """
    if is_named(name):
        return _named(NamedPrefix.parse(name))
    installed = libraries(prefixes)
    if not installed:
        raise MissingError("no MPI library was found", "install one: nhalf mpi install mpich")
    for folders in (prefixes, _prefixes_from_environment()):
        if chosen := meant(name, in_prefixes(installed, folders)):
            return chosen
    by_name = {library.name: library for library in installed}
    if name not in by_name and (chosen := with_origin(name, installed)):
        return chosen
    return by_name[library_named(name, by_name, "MPI library")]


def _named(named_prefix: NamedPrefix) -> Library:
    """The library of a prefix, by its new name; raises InputError if there is not just one."""
    discovery = discover([named_prefix.prefix])
    candidates = in_prefixes(discovery.libraries, [named_prefix.prefix])
    if not candidates:
        reasons = [
            broken.reason
            for broken in discovery.broken
            if _real(broken.mpiexec.parent.parent) == _real(named_prefix.prefix)
        ]
        raise InputError(
            f"--mpi {named_prefix}: {next(iter(reasons), 'no MPI library there')}",
            "name the install folder of one, which has bin/mpiexec",
        )
    return replace(only_one(str(named_prefix.prefix), candidates), name=named_prefix.name)


def other_versions(name: str, prefixes: Sequence[Path] = ()) -> list[Library]:
    """The libraries that a beginning of a name ('openmpi') leaves to `find`, in another version."""
    by_name = {library.name: library for library in libraries(prefixes)}
    if name in by_name or is_named(name):
        return []
    chosen = find(name, prefixes)
    return [
        library
        for key, library in by_name.items()
        if key.startswith((f"{name}-", f"{name}.")) and library.version != chosen.version
    ]


def newest(libraries: Sequence[Library]) -> list[Library]:
    """The newest library of each vendor, in the given order."""
    best: dict[str, Library] = {}
    for library in libraries:
        if library.vendor not in best or _age(library) > _age(best[library.vendor]):
            best[library.vendor] = library
    return list(best.values())


def _age(library: Library) -> list[int]:
    """The version as numbers, larger for newer libraries of a vendor."""
    return [int(number) for number in re.findall(r"\d+", library.version)]


def discover(prefixes: Sequence[Path] = (), ask_failed_again: bool = False) -> Discovery:
    """Find every library once, and list broken ones.

    `prefixes` are searched beside those in NHALF_MPI_PREFIXES (separated by colons).
    """
    given_prefixes = [*prefixes, *_prefixes_from_environment()]
    broken = [
        Broken(prefix / "bin" / "mpiexec", "prefix", "no executable bin/mpiexec there")
        for prefix in given_prefixes
        if _launcher_in(prefix / "bin") is None
    ]
    own = own_prefixes()
    broken += [Broken(mpiexec, "wheel", reason) for mpiexec, reason in own.not_run.items()]
    candidates = _unique(_candidates(own.prefixes, given_prefixes))
    candidate_variables = {mpiexec: variables(mpiexec.parent.parent) for mpiexec in candidates}
    identities = identify(candidate_variables, ask_failed_again)
    usable: list[Library] = []
    for mpiexec, origin in candidates.items():
        identity = identities[mpiexec]
        if identity.reason:
            broken.append(Broken(mpiexec, origin, identity.reason))
        else:
            usable.append(_library(mpiexec.parent.parent, mpiexec, origin, identity))
    usable += _loaded_libraries({library.prefix for library in usable})
    return Discovery(_with_unique_names(_distinct(usable)), broken)


def _prefixes_from_environment() -> list[Path]:
    parts = os.environ.get(PREFIXES_VARIABLE, "").split(os.pathsep)
    return [Path(os.path.expanduser(part)) for part in parts if part]


def _candidates(own: Iterable[Path], prefixes: Iterable[Path]) -> Iterator[tuple[Path, str]]:
    """Every mpiexec that may be a library, with its origin, most specific origin first."""
    for folder in own:
        yield from _with_origin(_launcher_in(folder / "bin"), "wheel")
    for prefix in prefixes:
        yield from _with_origin(_launcher_in(prefix.absolute() / "bin"), "prefix")
    searched = os.environ.get("PATH", os.defpath).split(os.pathsep)
    for folder in map(Path, [*searched, *SYSTEM_FOLDERS]):
        # Version managers put scripts there that call programs elsewhere.
        if not folder.is_absolute() or folder.name == "shims":
            continue
        # Debian distinguishes several libraries in one folder by these: mpirun.openmpi.
        for suffix in ("", *(f".{name}" for name in vendors())):
            yield from _with_origin(_launcher_in(folder, suffix), _origin_of(folder))


def _with_origin(mpiexec: Path | None, origin: str) -> Iterator[tuple[Path, str]]:
    if mpiexec is not None:
        yield mpiexec, origin


def _origin_of(folder: Path) -> str:
    real = _real(folder)
    if real == _real(Path(sys.prefix, "bin")):
        return "wheel"  # pip put it beside this Python
    return "system" if real in (Path("/usr/bin"), Path("/bin")) else "path"


def _launcher_in(folder: Path, suffix: str = "") -> Path | None:
    """The mpiexec of a folder, or its mpirun; links are followed while they keep such a name."""
    for name in (f"mpiexec{suffix}", f"mpirun{suffix}"):
        path = folder / name
        if _runnable(path):
            return _follow_links(path)
    return None


def _runnable(path: Path) -> bool:
    # Path.is_file raises where a folder on the way may not be entered, this does not.
    return os.path.isfile(path) and os.access(path, os.X_OK)


def _real(path: Path) -> Path:
    # Path.resolve raises for a link that leads to itself, this does not.
    return Path(os.path.realpath(path))


def _follow_links(path: Path) -> Path:
    """The target of a link, as long as the program keeps its name.

    Open MPI looks at the name it was called by, so a link to orterun or prterun must be called
    as mpiexec; a link from a folder of links into the real prefix must be followed.
    """
    path = _real(path.parent) / path.name
    for _ in range(16):
        if not path.is_symlink():
            break
        target = path.parent / path.readlink()
        target = _real(target.parent) / target.name
        if not target.name.startswith(("mpiexec", "mpirun")):
            break
        path = target
    return path


def _unique(candidates: Iterable[tuple[Path, str]]) -> dict[Path, str]:
    """The candidates without further names of the same file."""
    unique: dict[Path, str] = {}
    real_paths: set[Path] = set()
    for mpiexec, origin in candidates:
        real = _real(mpiexec)
        if real not in real_paths:
            real_paths.add(real)
            unique[mpiexec] = origin
    return unique


def _loaded_libraries(known_prefixes: Collection[Path]) -> Iterator[Library]:
    """Yield libraries of loaded modules without an mpiexec, which other launchers start."""
    for name, vendor in vendors().items():
        loaded = vendor.loaded()
        if loaded is not None and loaded.prefix not in known_prefixes:
            identity = LibraryIdentity(name, loaded.version, vendor.launcher)
            yield _library(loaded.prefix, None, "path", identity)


def _library(prefix: Path, mpiexec: Path | None, origin: str, identity: LibraryIdentity) -> Library:
    vendor = vendors()[identity.vendor]
    return Library(
        name=f"{identity.vendor}-{identity.version}",
        vendor=identity.vendor,
        version=identity.version,
        prefix=prefix,
        mpiexec=mpiexec,
        launcher=identity.launcher,
        abi=any(_holds_abi(folder) for folder in library_path(prefix, vendor)),
        compiler=vendor.compiler(prefix) or _compiler(prefix / "bin", identity.vendor),
        origin=origin,
        environment=variables(prefix, vendor),
        vendor_title=vendor.title,
    )


def _holds_abi(folder: Path) -> bool:
    return os.path.exists(folder / "libmpi_abi.so.1") or os.path.exists(folder / "libmpi_abi.so.0")


def _compiler(folder: Path, vendor: str) -> Path | None:
    """The C++ compiler wrapper of a vendor; a plain name may belong to another library."""
    for name in (*(f"{compiler}.{vendor}" for compiler in _COMPILERS), *_COMPILERS):
        path = folder / name
        foreign = _real(path).suffix[1:] in set(vendors()) - {vendor}
        if _runnable(path) and not foreign:
            return path
    return None


def _distinct(libraries: Iterable[Library]) -> list[Library]:
    """The libraries without a second mpiexec of the same prefix, or a repeated wheel."""
    distinct: dict[tuple[str, str, str], Library] = {}
    for library in libraries:
        place = "wheel" if library.origin == "wheel" else str(library.prefix)
        distinct.setdefault((library.vendor, library.version, place), library)
    return list(distinct.values())


def _with_unique_names(libraries: Iterable[Library]) -> list[Library]:
    """Libraries with unique names: the first keeps the plain one, others add origin or number.

    Of several in given prefixes none keeps it, so that each name says which one it is.
    """
    by_name: dict[str, Library] = {}
    in_order = sorted(libraries, key=lambda library: ORIGINS.index(library.origin))
    prefix_counts = Counter(library.name for library in in_order if library.origin == "prefix")
    for library in in_order:
        is_one_of_several = library.origin == "prefix" and prefix_counts[library.name] > 1
        is_plain = library.name not in by_name and not is_one_of_several
        name = library.name if is_plain else f"{library.name}-{library.origin}"
        count = 2
        while name in by_name:
            name = f"{library.name}-{library.origin}-{count}"
            count += 1
        by_name[name] = replace(library, name=name)
    return [by_name[name] for name in sorted(by_name)]


def as_json(discovery: Discovery) -> dict[str, list[dict[str, object]]]:
    """The JSON object of `nhalf mpi list --json`."""
    return {
        "libraries": [
            {
                **members(library, "name", "vendor", "version"),
                "prefix": str(library.prefix),
                "mpiexec": str(library.mpiexec) if library.mpiexec else None,
                **members(library, "abi", "origin", "launcher"),
                "compiler": str(library.compiler) if library.compiler else None,
            }
            for library in discovery.libraries
        ],
        "broken": [
            {"mpiexec": str(broken.mpiexec), "origin": broken.origin, "reason": broken.reason}
            for broken in discovery.broken
        ],
    }
