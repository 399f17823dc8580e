"""All that the wheel ships compiles, links and runs with the C library of the oldest system.

The ziglang wheel holds a compiler with the symbols of every version of glibc.
"""

from __future__ import annotations

import json
import os
import platform
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from nhalf.base.processes import run
from tests.patience import patience_s

ROOT = Path(__file__).resolve().parent.parent
BUILD_ENVIRONMENT = Path(os.environ.get("NHALF_BUILD_ENV", ROOT / "build" / "env"))
FOLDER = ROOT / "build" / "oldest"
VERSION = "0.17.1"
OLDEST = (2, 28)
TIMEOUT_S = 1800.0
POINTS = "id=1 pattern=pingpong bytes=1024 samples_max=5\nid=2 pattern=barrier bytes=0\nend\n"
NEEDED = re.compile(r"\bUND (\w+)@GLIBC_(\d+)\.(\d+)")
PROCESSORS = ("x86_64", "aarch64")


def newer(symbols: str) -> set[str]:
    """The names in a listing of `readelf --dyn-syms` that the oldest system does not have."""
    found = NEEDED.findall(symbols)
    return {name for name, major, minor in found if (int(major), int(minor)) > OLDEST}


def test_a_newer_name_is_found() -> None:
    line = " 7: 0000000000000000 0 FUNC GLOBAL DEFAULT UND {}@GLIBC_{} (3)\n"
    listing = line.format("memcpy", "2.14") + line.format("pthread_create", "2.34")
    assert newer(listing) == {"pthread_create"}


@pytest.fixture(scope="module")
def compiler() -> list[str]:
    """The words that start the compiler of the wheel, in its own environment."""
    for tool in ("readelf", "nm"):
        if shutil.which(tool) is None:
            pytest.skip(f"{tool} is missing (apt-get install binutils)")
    if not (BUILD_ENVIRONMENT / "bin/cmake").exists():
        pytest.skip("no build tools: run `make setup`, or set NHALF_BUILD_ENV")
    python = FOLDER / "env/bin/python"
    pip = [str(python), "-m", "pip", "install", "--quiet", "--only-binary", ":all:"]
    for command in (
        [sys.executable, "-m", "venv", str(FOLDER / "env")],
        [*pip, f"ziglang=={VERSION}"],
    ):
        outcome = run(command, patience_s(TIMEOUT_S))
        if not outcome.succeeded:
            pytest.skip(f"the ziglang wheel cannot be had here: {outcome.reason}")
    return [str(python), "-m", "ziglang", "c++"]


def environment() -> dict[str, str]:
    return {
        "PATH": f"{BUILD_ENVIRONMENT / 'bin'}:{os.environ['PATH']}",
        "ZIG_GLOBAL_CACHE_DIR": str(FOLDER / "cache"),
        "ZIG_LOCAL_CACHE_DIR": str(FOLDER / "cache"),
        "CMAKE_CXX_COMPILER_LAUNCHER": "",
    }


def do(command: list[str]) -> str:
    outcome = run(command, patience_s(TIMEOUT_S), environment())
    assert outcome.succeeded, (outcome.stdout + outcome.stderr)[-3000:]
    return outcome.stdout


def built(compiler: list[str], processor: str) -> tuple[Path, list[str]]:
    """The folder of what was built, and the words that compile for the processor."""
    words = [*compiler, "-target", f"{processor}-linux-gnu.{OLDEST[0]}.{OLDEST[1]}"]
    wrapper = FOLDER / f"c++-{processor}"
    wrapper.write_text(f'#!/bin/sh\nexec {" ".join(words)} "$@"\n')
    wrapper.chmod(0o755)
    folder = FOLDER / processor
    configure = ["cmake", "-S", str(ROOT), "-B", str(folder), "-G", "Ninja"]
    configure += [f"-DCMAKE_CXX_COMPILER={wrapper}", "-DCMAKE_BUILD_TYPE=Debug"]
    configure += ["-DCMAKE_CXX_FLAGS=-O1 -g0 -fno-sanitize=undefined"]
    if processor != platform.machine():
        configure += ["-DCMAKE_SYSTEM_NAME=Linux", f"-DCMAKE_SYSTEM_PROCESSOR={processor}"]
    do(configure)
    do(["cmake", "--build", str(folder), "-j", "2"])
    return folder / "native", words


def linked_with_names_alone(folder: Path, words: list[str]) -> None:
    """Links the probes of MPI where there is no library of MPI for the processor."""
    for objects in folder.glob("CMakeFiles/probe-*-abi.dir/probe/*.o"):
        listing = subprocess.run(["nm", "-u", objects], capture_output=True, text=True, check=True)
        names = sorted(set(re.findall(r"\bP?MPI_\w+", listing.stdout)))
        assert names
        names_of = folder / "names.cpp"
        names_of.write_text("".join(f'extern "C" void {name}() {{}}\n' for name in names))
        library = folder / "libmpi_abi.so"
        do([*words, "-shared", "-fPIC", str(names_of), "-o", str(library)])
        program = objects.parents[1].name.removesuffix(".dir")
        do([*words, str(objects), str(library), "-lpthread", "-o", str(folder / program)])


def made_files(folder: Path) -> list[Path]:
    probes = [path for path in folder.glob("probe-*") if path.is_file()]
    return [*probes, folder / "libnhalf_network.so", folder / "libnhalf_coll.so"]


@pytest.mark.slow
@pytest.mark.full
@pytest.mark.timeout(0)
@pytest.mark.parametrize("processor", PROCESSORS)
def test_the_oldest_c_library_is_enough(compiler: list[str], processor: str) -> None:
    folder, words = built(compiler, processor)
    if not list(folder.glob("probe-*-abi")):
        linked_with_names_alone(folder, words)
    files = made_files(folder)
    names = {path.name for path in files}
    assert {"probe-model", "probe-threads", "probe-mpi-abi", "probe-shm-abi"} <= names
    for path in files:
        assert newer(do(["readelf", "-W", "--dyn-syms", str(path)])) == set(), path.name
    emulator = []
    if processor != platform.machine():
        if shutil.which(f"qemu-{processor}") is None:
            pytest.skip(f"all links, but qemu-{processor} is missing: nothing was run")
        emulator = [f"qemu-{processor}", "-L", f"/usr/{processor}-linux-gnu"]
    for probe in ("probe-model", "probe-threads"):
        started = run([*emulator, str(folder / probe), "--ranks", "2"], 300, None, POINTS)
        records = [json.loads(line) for line in started.stdout.splitlines() if '"id"' in line]
        assert [record.get("verified") for record in records] == [True, True], started.reason
