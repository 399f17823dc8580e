"""What the doctor finds of GPUs, and of libraries that take buffers in their memory."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from nhalf.mpi import Library
from nhalf.sites import examine as module
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
