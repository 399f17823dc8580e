"""The text of kernels for GPUs of AMD, compiled for the host, writes the right bytes."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

HEADER = Path(__file__).parents[3] / "native/host/hip.hpp"
COMPILER = shutil.which("g++") or shutil.which("c++")
BEFORE = """
#define __device__
#define __global__
struct Place { unsigned x; };
static const Place gridDim{2}, blockDim{4};
static Place blockIdx, threadIdx;
template <class T> void atomicAdd(T* sum, T term) { *sum += term; }
"""
AFTER = """
#include <vector>
template <class Work> void each_thread(Work work) {
  for (blockIdx.x = 0; blockIdx.x < gridDim.x; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < blockDim.x; ++threadIdx.x) work();
}
int main() {
  std::vector<unsigned char> data(10000);
  each_thread([&] { nhalf_fill(data.data(), data.size(), 7); });
  for (unsigned at = 0; at < data.size(); ++at) {
    const unsigned mixed = (at % 4093 + 1) * 2654435761U + 7 * 40503U;
    if (data[at] != (unsigned char)((mixed >> 13) ^ mixed)) return 1;
  }
  data[9999] ^= 1;
  Long wrong = 0;
  each_thread([&] { nhalf_verify(data.data(), data.size(), 7, &wrong); });
  return wrong == 1 ? 0 : 2;
}
"""


@pytest.mark.skipif(COMPILER is None, reason="no compiler of C++")
def test_kernels_fill_and_verify(tmp_path: Path) -> None:
    text = HEADER.read_text("utf-8").partition('R"(')[2].partition(')";')[0]
    assert "nhalf_fill" in text
    program = tmp_path / "kernels"
    words = [str(COMPILER), "-x", "c++", "-std=c++17", "-Wall", "-", "-o", str(program)]
    subprocess.run(words, input=BEFORE + text + AFTER, text=True, check=True)
    assert subprocess.run([str(program)], check=False).returncode == 0
