"""What libraries need to take buffers in GPU memory."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nhalf.mpi import Library
from nhalf.mpi.gpu import (
    asks_for_gpu,
    for_gpu,
    gpu_folder,
    how_to_take_gpu_memory,
    is_in_device_memory,
    ucx_folder,
)


@pytest.fixture
def wheel_library(empty_machine: Path) -> Library:
    mpiexec = empty_machine / "bin/mpiexec"
    return Library(
        *("mpich-5.0.2", "mpich", "5.0.2", empty_machine, mpiexec, "hydra", True, None, "wheel"),
        environment={"LD_LIBRARY_PATH": "/own/lib"},
    )


def put_ucx(version: str) -> Path:
    folder = gpu_folder() / f"libucx-cu13-{version}/lib/python3.11/site-packages/libucx/lib"
    folder.mkdir(parents=True)
    (folder / "libucp.so.0").touch()
    return folder


@pytest.mark.parametrize(
    ("axes", "is_device"),
    [
        ("", False),
        ("memory=host", False),
        ("memory=pinned-managed", False),
        ("memory=device", True),
        ("memory=host-device,type=int", True),
        ("place=device", False),
    ],
)
def test_points_in_device_memory(axes: str, is_device: bool) -> None:
    assert is_in_device_memory(axes) is is_device


def test_a_plan_asks_for_a_gpu_by_any_of_its_values() -> None:
    assert not asks_for_gpu([])
    assert not asks_for_gpu(["", "host", "host-host"])
    assert asks_for_gpu(["host", "host,pinned"])
    assert asks_for_gpu(["host-device"])


def test_a_wheel_takes_the_newest_ucx_beside_it(wheel_library: Library) -> None:
    assert ucx_folder() is None
    assert for_gpu(wheel_library) == wheel_library
    assert "nhalf mpi install mpich --gpu" in how_to_take_gpu_memory(wheel_library)
    put_ucx("1.21.0")
    folder = put_ucx("1.22.0")
    library = for_gpu(wheel_library)
    assert library.environment["LD_LIBRARY_PATH"] == f"{folder}:/own/lib"
    assert library.environment["MPIR_CVAR_NOLOCAL"] == "1"
    assert "--gpu" not in how_to_take_gpu_memory(wheel_library)


def test_a_library_of_the_site_is_taken_as_it_is(wheel_library: Library) -> None:
    put_ucx("1.22.0")
    library = replace(wheel_library, origin="path")
    assert for_gpu(library) == library


def test_own_settings_stay(wheel_library: Library, monkeypatch: pytest.MonkeyPatch) -> None:
    intel = replace(wheel_library, name="intel-2021.19", vendor="intel")
    assert for_gpu(intel).environment["I_MPI_OFFLOAD"] == "1"
    monkeypatch.setenv("I_MPI_OFFLOAD", "2")
    assert "I_MPI_OFFLOAD" not in for_gpu(intel).environment
    assert "libcuda.so.1" in for_gpu(intel).environment["I_MPI_OFFLOAD_CUDA_LIBRARY"]
