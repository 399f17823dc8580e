# SPDX-License-Identifier: Apache-2.0
"""Which handles a program has is read from the names of libraries in its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.measure.traced.preloaded import ABI, CLASSIC, kinds_of_handles


@pytest.mark.parametrize(
    ("names", "kinds"),
    [
        (["libmpi.so.12"], {CLASSIC}),
        (["libmpi_abi.so.0"], {ABI}),
        (["libmpifort.so.12"], {CLASSIC}),
        (["libmpifort_abi.so.1"], {ABI}),
        (["libmpi_mpifh.so.40", "libmpi.so.40"], {CLASSIC}),
        (["libc.so.6"], set()),
    ],
)
def test_libraries_tell_the_handles(names: list[str], kinds: set[bytes], tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_bytes(b"\x7fELF" + b"\0".join(name.encode() for name in names) + b"\0")
    assert kinds_of_handles(["mpiexec", "-n", "2", str(program)]) == kinds


def test_what_is_no_program_tells_nothing(tmp_path: Path) -> None:
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n# libmpi.so\n")
    assert kinds_of_handles(["mpiexec", str(script), str(tmp_path)]) == set()
