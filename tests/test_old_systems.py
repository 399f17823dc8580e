"""What probes ask of the C library: nothing that glibc 2.28 does not have under some version.

A program that is linked on a newer system asks for newer versions of old functions. What counts
is that it can be compiled on the old one.
"""

from __future__ import annotations

import re
import shutil
import subprocess

import pytest

from nhalf.base.native_files import native_folder

OLDEST = (2, 28)
MOVED = re.compile(
    r"_*pthread_\w+|shm_\w+|sem_\w+|dl\w+|__libc_start_main|[fl]?stat(64)?|(exp|log)2?|pow"
)
"""Old functions with another version since they moved into the library itself or changed."""
OF_COMPILERS = {"__libc_single_threaded", "_dl_find_object", "arc4random"}
"""Asked for by the static parts of newer compilers, not by what is compiled."""
SYMBOL = re.compile(r"\*UND\*.*\(GLIBC_(\d+)\.(\d+)(?:\.\d+)?\)\s+(\w+)")


def newer_than_oldest(listing: str) -> set[str]:
    """The functions in a listing of `objdump -T` that the oldest system does not have."""
    found = SYMBOL.findall(listing)
    newer = {name for major, minor, name in found if (int(major), int(minor)) > OLDEST}
    return {name for name in newer if not MOVED.fullmatch(name)} - OF_COMPILERS


def test_newer_functions_are_told_from_moved_ones() -> None:
    line = "0000000000000000      DF *UND*\t0000000000000000 (GLIBC_{}) {}\n"
    listing = line.format("2.29", "getcpu") + line.format("2.34", "pthread_create")
    assert newer_than_oldest(listing + line.format("2.2.5", "memcpy")) == {"getcpu"}


def test_probes_and_the_preloaded_library_ask_for_what_an_old_system_has() -> None:
    if shutil.which("objdump") is None:
        pytest.skip("objdump is missing (apt-get install binutils)")
    folder = native_folder()
    files = [*(folder / "bin").iterdir(), *(folder / "lib").glob("*.so")]
    compiled = [file for file in files if file.read_bytes()[:4] == b"\x7fELF"]
    assert compiled
    for file in compiled:
        done = subprocess.run(["objdump", "-T", file], capture_output=True, text=True, check=True)
        assert newer_than_oldest(done.stdout) == set(), file
