"""The driver of the tests for hosts without a GPU, compiled once per process."""

from __future__ import annotations

import functools
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

SOURCE = Path(__file__).parent / "native/host/gpu_stand_in.cpp"


@functools.cache
def gpu_stand_in(without: str = "") -> Path:
    """Its file, which NHALF_CUDA_LIBRARY can name; `without` 'launch', a call, or 'graphs'.

    Skips the test where there is no compiler of C++.
    """
    compiler = shutil.which("g++") or shutil.which("c++")
    if compiler is None:
        pytest.skip("no compiler of C++")
    library = Path(tempfile.mkdtemp()) / "libcuda-stand-in.so"
    lacking = [f"-DNHALF_STAND_IN_WITHOUT_{without.upper()}"] if without else []
    shared = ["-std=c++20", "-O1", "-fPIC", "-shared", "-pthread"]
    subprocess.run([compiler, *lacking, *shared, "-o", library, SOURCE], check=True)
    return library
