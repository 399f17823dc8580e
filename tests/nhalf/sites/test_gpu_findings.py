"""What the doctor finds of GPUs, and of libraries that take buffers in their memory."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.mpi import Library
from nhalf.sites import examine as module
from nhalf.sites.examine import ABSENT, GOOD
from nhalf.sites.hello import Hello


def test_a_driver_of_gpus_is_looked_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", "/nowhere/libcuda.so.1")
    absent = module.gpu_driver()
    assert (absent.state, "/nowhere" in absent.found) == (ABSENT, True)
    assert "NHALF_CUDA_LIBRARY" in absent.remedy
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", "libm.so.6")
    assert module.gpu_driver().state == GOOD


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
