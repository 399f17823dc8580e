"""Which handles a program has is read from the names of libraries in its file."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import FailedError, MissingError
from nhalf.measure.traced.collect import collect
from nhalf.measure.traced.start import kinds_of_handles, start, tracing_libraries
from nhalf.mpi import Library
from nhalf.mpi.preload import ABI, CLASSIC


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


def test_a_library_that_cannot_be_had_is_not_passed_over_silently(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    launcher = tmp_path / "mpiexec"
    launcher.write_text("#!/bin/sh\nexit 3\n")
    launcher.chmod(0o755)
    library = Library("mpich-5", "mpich", "5.0", tmp_path, launcher, "hydra", True, None, "path")

    def too_long(*_: object) -> Path:
        raise MissingError("the library that traces does not compile: no end after 300 s")

    monkeypatch.setattr("nhalf.measure.traced.start.libraries", lambda: [library])
    monkeypatch.setattr("nhalf.measure.traced.start.own_library", too_long)
    monkeypatch.setattr(
        "nhalf.measure.traced.start.abi_library", lambda *_: tmp_path / "libnhalf_trace.so"
    )
    line = (
        "programs built with the own header of mpich-5 cannot be traced: "
        "the library that traces does not compile: no end after 300 s"
    )
    found = tracing_libraries([str(launcher), "script"])
    assert found.libraries == [tmp_path / "libnhalf_trace.so"]
    assert found.lacking == [line]
    folder = tmp_path / "trace"
    assert start([str(launcher), "script"], folder, "counts") == 3
    assert f"nhalf: {line}" in capfd.readouterr().err.splitlines()
    with pytest.raises(FailedError, match=line):
        collect(folder, 3)
