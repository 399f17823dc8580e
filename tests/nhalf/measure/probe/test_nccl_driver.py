"""What is wrong with a GPU's driver, told in a line where NCCL is measured."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

from nhalf.measure.probe.process import LaunchError
from tests.nhalf.measure.probe.test_nccl import FAULT, NATIVE, STAND_INS, answers, pytestmark
from tests.stand_in_gpu import gpu_stand_in

__all__ = ["pytestmark"]
NCCL = "NHALF_NCCL_LIBRARY"


@pytest.fixture(scope="module")
def nccl(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The stand-in for NCCL."""
    library = tmp_path_factory.mktemp("nccl") / "libnccl.so.2"
    words = ["c++", "-std=c++20", "-O1", "-shared", "-fPIC", str(NATIVE / STAND_INS[NCCL])]
    subprocess.run([*words, "-o", str(library)], check=True)
    return library


@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("no-device", "the driver finds no GPU"),
        ("old-driver", "CUDA 11.0 or newer is needed"),
        ("busy", "another context"),
        ("foreign-context", "another context"),
        ("out-of-memory", "not enough free memory"),
        ("wrong-data", ""),
        ("without-launch", "has no cuLaunchKernel"),
    ],
)
@pytest.mark.sampled(3)
def test_faults_of_the_driver_are_named(
    nccl: Path, monkeypatch: pytest.MonkeyPatch, fault: str, words: str
) -> None:
    monkeypatch.delenv(FAULT, raising=False)
    monkeypatch.setenv(NCCL, str(nccl))
    without = "launch" if fault == "without-launch" else ""
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", str(gpu_stand_in(without)))
    monkeypatch.setenv("NHALF_STAND_IN_FAULT", fault)
    try:
        (answer,) = answers(2, ["pattern=bcast bytes=800"])
    except LaunchError as error:
        answer = {"message": str(error)}
    if words:
        assert words in answer["message"]
        assert "\n" not in answer["message"]
    else:
        assert not answer["verified"]
