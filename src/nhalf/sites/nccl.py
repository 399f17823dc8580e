"""NCCL on this machine: its file and version, the GPUs it would have, and what is set for it."""

import os
import sys
from pathlib import Path

from nhalf.base.errors import MissingError
from nhalf.base.listing import listed
from nhalf.base.processes import run
from nhalf.mpi.gpu import DRIVER, DRIVER_VARIABLE
from nhalf.mpi.transport_files import loaded_variables, transport_files

TRANSPORT = "nccl"
LIMIT_S = 30.0
NAMES_CHOICES_SINCE = (2, 24)
"""The first NCCL that tells a plug-in its choices by name."""
PROFILER = "NCCL_PROFILER_PLUGIN"
FILES = ("/etc/nccl.conf", "~/.nccl.conf")
"""Where NCCL reads settings, besides the file that NCCL_CONF_FILE names."""
_PROGRAM = """
import ctypes, sys
number = ctypes.c_int()
if ctypes.CDLL(sys.argv[1]).ncclGetVersion(ctypes.byref(number)):
    sys.exit("ncclGetVersion failed")
count = ctypes.c_int()
try:
    driver = ctypes.CDLL(sys.argv[2])
    has_count = driver.cuInit(0) == 0 and driver.cuDeviceGetCount(ctypes.byref(count)) == 0
except (OSError, AttributeError):
    has_count = False
print(number.value, count.value if has_count else 0)
"""


def nccl_here() -> str:
    """What there is, in a line. It is asked in another process, which may crash.

    Raises MissingError if there is no NCCL, or none that can be loaded.
    """
    transport = transport_files().get(TRANSPORT)
    if transport is None:
        raise MissingError(
            "there is no transport nccl here", "install the sources of nhalf with it"
        )
    name, variable, _, package = transport.loads
    file = loaded_variables(transport).get(variable, name)
    driver = os.environ.get(DRIVER_VARIABLE) or DRIVER
    outcome = run([sys.executable, "-I", "-S", "-c", _PROGRAM, file, driver], LIMIT_S)
    words = outcome.stdout.split()
    if not outcome.succeeded or len(words) != 2:
        last = next(reversed(outcome.stderr.split("\n")[:-1]), outcome.reason)
        remedy = f"pip install {package}, or name another file in {variable}"
        raise MissingError(f"{file} cannot be used: {last}", remedy)
    number, gpus = map(int, words)
    version = (number // 10000, number // 100 % 100)
    names_choices = "names its algorithms"
    if version < NAMES_CHOICES_SINCE or os.environ.get(PROFILER):
        names_choices = f"does not name its algorithms: NCCL 2.24 does, without {PROFILER}"
    settings = [f"{name}={os.environ[name]}" for name in sorted(os.environ) if name[:5] == "NCCL_"]
    settings += [file for file in FILES if Path(file).expanduser().is_file()]
    return (
        f"NCCL {version[0]}.{version[1]}.{number % 100}, {file}; {gpus} GPU{'s'[: gpus != 1]}; "
        f"{names_choices}; set: {listed(settings) or 'nothing'}"
    )
