"""What is refused before anything starts."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from msgspec.structs import replace

from nhalf.base.errors import InputError, MissingError
from nhalf.base.folders import data_folder
from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.machines.processor_file import processor
from nhalf.measure.virtual.launch import VirtualLaunch, run
from nhalf.mpi import Library
from nhalf.mpi.vendors import vendors
from nhalf.node.described import keep_here


def library(vendor: str) -> Library:
    """A library that is not installed."""
    return Library(f"{vendor}-1", vendor, "1", Path("none"), None, "hydra", True, None, "prefix")


def test_more_ranks_than_the_network_holds() -> None:
    trial = VirtualLaunch(
        Messages(catalogue.machine("altix-bx2")), library("mpich"), ["true"], [0] * 1025
    )
    with pytest.raises(InputError, match="holds 1024 ranks at most, not 1025; ask for fewer"):
        run(trial, [])


def test_no_room_for_shared_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """MPICH's own words for that are those of a rank that crashed."""
    room = SimpleNamespace(f_bavail=15, f_frsize=4096)
    monkeypatch.setattr(os, "statvfs", lambda _: room)
    trial = VirtualLaunch(
        Messages(catalogue.machine("altix-bx2")), library("mpich"), ["true"], [0, 1]
    )
    with pytest.raises(MissingError, match="ranks need 64 KiB in /dev/shm, which has 60 KiB; make"):
        run(trial, [])


def test_a_library_that_nobody_has_tried() -> None:
    with pytest.raises(MissingError, match=r"not know how .* sends everything over libfabric"):
        vendors()["cray"].over_provider(library("cray"), "nhalf", [])


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--machine", "sp2-mpl"], "no program is given"),
        (["--", "true"], "on which machine?"),
        (["--machine", "sp2-mpl", "--ranks", "0", "--", "true"], "0 ranks cannot run"),
        (["--machine", "sp2-mpl", "--", "./absent"], "./absent is no program here that may be run"),
        (["--machine", "sp2-mpl", "--", "/etc/passwd"], "/etc/passwd is no program here"),
        (["--machine", "sp2-mpl", "--", "/x/mpiexec", "true"], "starts the ranks itself"),
        (["--machine", "sp2", "--", "true"], "sp2"),
        (
            ["--machine", "sp2-mpl", "--computing", "measured:0", "--", "true"],
            "is not a way to count computing",
        ),
        (["--machine", "sp2-mpl", "--inside", "node", "--", "true"], "is not a way within a node"),
        (["--machine", "sp2-mpl", "--timeout", "0", "--", "true"], "'0' is not a duration"),
    ],
)
def test_requests_that_say_too_little(
    call: Callable[..., Any], words: list[str], message: str
) -> None:
    ended = call("try", *words)
    assert ended.code == 2
    assert message in ended.err


def test_a_processor_needs_that_of_here(
    call: Callable[..., Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    libraries = data_folder() / "mpi"
    if not libraries.is_dir():
        pytest.skip("no MPI library was installed here")
    (tmp_path / "nhalf").mkdir()
    (tmp_path / "nhalf/mpi").symlink_to(libraries)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    words = ["try", "--machine", "sp2-mpl", "--computing", "power2", "--", "true"]
    ended = call(*words)
    assert ended.code == 3
    assert "the processor here was not measured" in ended.err
    keep_here(replace(processor("power2"), name="here", clock_hz=667e6))
    assert "nhalf: computing takes 10.0 times as long on power2 as here" in call(*words).err


def test_a_processor_that_is_none(call: Callable[..., Any]) -> None:
    ended = call("try", "--machine", "sp2-mpl", "--computing", "power9", "--", "true")
    assert ended.code == 2
    assert "write none, measured:FACTOR or a processor" in ended.err
