"""What the doctor finds of GPUs, and of libraries that take buffers in their memory."""

from __future__ import annotations

import ctypes.util
import os
import subprocess
from pathlib import Path
from typing import Any

import pytest

from nhalf.mpi import Library
from nhalf.sites import examine as module
from nhalf.sites import nccl
from nhalf.sites.examine import ABSENT, DOUBT, GOOD
from nhalf.sites.hello import Hello


def test_a_driver_of_gpus_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", "/nowhere/libcuda.so.1")
    absent = module.gpu_driver()
    assert (absent.state, "/nowhere" in absent.found) == (ABSENT, True)
    assert "NHALF_CUDA_LIBRARY" in absent.remedy
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", "libm.so.6")
    assert module.gpu_driver().state == GOOD


GPU = {"name": "H100", "pci": "0000:1b:00.0", "has_mps": False}
QUIET = {"processes": 1, "held_back_by": [], "is_persistent": True}


@pytest.mark.parametrize(
    ("condition", "state", "words"),
    [
        ({}, GOOD, "H100 at 0000:1b:00.0, no MPS: processes take turns on it; no NVML"),
        (QUIET, GOOD, "no MPS"),
        ({**QUIET, "has_mps": True}, GOOD, "MPS runs"),
        ({**QUIET, "processes": 2}, DOUBT, "others compute on it"),
        ({**QUIET, "held_back_by": ["temperature"]}, DOUBT, "held down: temperature"),
        ({**QUIET, "is_persistent": False}, DOUBT, "persistence mode is off"),
    ],
)
def test_the_state_of_a_gpu_is_told(
    condition: dict[str, Any], state: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "_first_gpu", lambda: {**GPU, **condition})
    (item,) = module.gpu_condition()
    assert (item.state, words in item.found, bool(item.remedy)) == (state, True, state == DOUBT)


def test_a_probe_that_finds_no_gpu_is_a_doubt(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    probe = tmp_path / "gpu-probe"
    probe.write_text("#!/bin/sh\necho 'gpu-probe: the driver finds no GPU' >&2\nexit 2\n")
    probe.chmod(0o755)
    monkeypatch.setattr(module.native_files, "executable", lambda _: probe)
    (item,) = module.gpu_condition()
    assert (item.state, item.found) == (DOUBT, "the driver finds no GPU")


@pytest.mark.parametrize(
    ("reason", "has_probe", "state", "words"),
    [
        ("", True, GOOD, "device buffers: yes"),
        ("signal 11", True, ABSENT, "device buffers: no (signal 11)"),
        ("", False, ABSENT, "not tried"),
    ],
)
def test_a_library_takes_device_buffers_or_not(
    reason: str, has_probe: bool, state: str, words: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    def answer(library: Library, axes: str) -> Hello:
        asked.append(axes)
        return Hello(reason, 1.0, has_probe=has_probe)

    monkeypatch.setattr(module, "hello", answer)
    library = Library(
        *("intel-2021.19", "intel", "2021.19", Path("/opt"), None, "hydra"), False, None, "path"
    )
    finding = module.device_buffers(library)
    assert (finding.state, words in finding.found) == (state, True)
    assert asked == ["axis.memory=device"]
    assert finding.remedy or state == GOOD


SOURCE = """
int ncclGetVersion(int *number) { *number = NUMBER; return 0; }
int cuInit(unsigned flags) { return (int)flags; }
int cuDeviceGetCount(int *count) { *count = 8; return 0; }
"""


@pytest.mark.parametrize(
    ("number", "variables", "words"),
    [
        (23007, {}, "NCCL 2.30.7, {file}; 8 GPUs; names its algorithms; set: nothing"),
        (22304, {}, "NCCL 2.23.4, {file}; 8 GPUs; does not name its algorithms: NCCL 2.24"),
        (
            22809,
            {"NCCL_PROFILER_PLUGIN": "mine", "NCCL_ALGO": "Ring"},
            "does not name its algorithms: NCCL 2.24 does, without NCCL_PROFILER_PLUGIN; "
            "set: NCCL_ALGO=Ring and NCCL_PROFILER_PLUGIN=mine",
        ),
    ],
)
def test_nccl_is_described_in_a_line(
    number: int,
    variables: dict[str, str],
    words: str,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
) -> None:
    file = tmp_path / "libnccl.so.2"
    command = ["cc", "-shared", "-fPIC", f"-DNUMBER={number}", "-xc", "-", "-o", str(file)]
    subprocess.run(command, input=SOURCE, text=True, check=True)
    monkeypatch.setattr(nccl, "FILES", ())
    for name in [name for name in os.environ if name.startswith("NCCL_")]:
        monkeypatch.delenv(name)
    libraries = dict.fromkeys(("NHALF_NCCL_LIBRARY", "NHALF_CUDA_LIBRARY"), str(file))
    for name, value in (libraries | variables).items():
        monkeypatch.setenv(name, value)
    item = module.nccl()
    assert (item.state, item.remedy) == (GOOD, "")
    assert words.format(file=file) in item.found


def test_without_a_gpu_there_are_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / "libnccl.so.2"
    command = ["cc", "-shared", "-fPIC", "-DNUMBER=23007", "-xc", "-", "-o", str(file)]
    subprocess.run(command, input=SOURCE.replace("(int)flags", "100"), text=True, check=True)
    monkeypatch.setenv("NHALF_NCCL_LIBRARY", str(file))
    for driver in (str(file), "/nowhere/libcuda.so.1"):
        monkeypatch.setenv("NHALF_CUDA_LIBRARY", driver)
        assert "; 0 GPUs;" in module.nccl().found


@pytest.mark.parametrize(
    ("file", "words"),
    [("libm.so.6", "undefined symbol: ncclGetVersion"), ("text", "cannot be used: OSError")],
)
def test_a_file_that_is_not_nccl_is_named_with_a_remedy(
    file: str, words: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    (tmp_path / "text").write_text("no library")
    path = ctypes.util.find_library("m") if file == "libm.so.6" else str(tmp_path / file)
    monkeypatch.setattr(nccl, "loaded_variables", lambda _: {"NHALF_NCCL_LIBRARY": path})
    item = module.nccl()
    assert (item.state, words in item.found) == (ABSENT, True)
    assert "pip install nvidia-nccl-cu13" in item.remedy
    assert "\n" not in item.found
