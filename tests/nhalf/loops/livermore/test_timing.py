"""The kernels compute the same however they are compiled, at any length."""

from __future__ import annotations

import json
import subprocess
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nhalf.base import native_files
from nhalf.base.errors import FailedError
from nhalf.loops.builds import Build, builds, tuned_builds
from nhalf.loops.livermore.corpus import kernel_bounds
from nhalf.loops.livermore.table import as_json, rows, used
from nhalf.loops.livermore.timing import KernelTiming, check_sums, program
from nhalf.loops.livermore.titles import TUNED
from nhalf.machines.processor_file import processor

NATIVE = Path(__file__).resolve().parents[4] / "native"
SUMS = {  # of one pass, at the usual length
    1: 8.210795166e03, 2: 7.985209289e03, 3: 2.469636756e01, 4: 8.132935083e03,
    5: 6.211856847e03, 6: 8.132006161e02, 7: 6.695521353e03, 8: 2.553559769e03,
    9: 3.303811711e03, 10: 2.334333767e03, 11: 1.058648755e05, 12: 6.205494655e03,
    13: 2.44e02, 14: 2.929893415e03, 15: 1.133513688e03, 16: 2.56880757e04,
    17: 2.00573258e03, 18: 4.144447308e02, 19: 8.27766507e02, 20: 3.878787654e03,
    21: 3.511244655e03, 22: 2.290835965e03, 23: 2.305215042e02, 24: 8.180391792e03,
}  # fmt: skip
TIMED = [KernelTiming(12, build, 2.0, 1000, 1.0, 2e9) for build in (
    Build("gcc", ("-O0",)), Build("gcc", ("-O3", "-march=native"))
)]  # fmt: skip


@pytest.fixture(autouse=True)
def _ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_files, "include_folder", lambda: NATIVE)


@pytest.mark.slow
def test_check_sums_and_lengths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = program(builds()[0])
    said = _said([str(path), "0", "0", "1", "1e-7"])
    assert {one["kernel"]: one["sum"] for one in said} == pytest.approx(SUMS, rel=1e-8)
    for one in said:
        assert one["iterations"] >= 64
        assert min(one["time_s"]) > 0
    for length in ("1", "100000"):
        others = _said([str(path), "0", length, "1", "1e-7"])
        assert [one["kernel"] for one in others] == list(SUMS)
        assert all(abs(one["sum"]) < 1e9 for one in others)
    assert subprocess.run([path, "25"], capture_output=True, check=False).returncode == 2


@pytest.mark.slow
def test_tuned_kernels_compute_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    path = program(tuned_builds()[0])
    found = {}
    for number in TUNED:
        for length in ("1", "70", "100000", "0"):
            (said,) = _said([str(path), str(number), length, "1", "1e-7"])
            assert abs(said["sum"]) < 1e9
        found[number] = said["sum"]
    assert found == pytest.approx({number: SUMS[number] for number in TUNED}, rel=1e-8)


def _said(command: list[str]) -> list[dict[str, Any]]:
    ended = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return [json.loads(line) for line in ended.stdout.splitlines()]


def test_sums_that_differ_between_builds_are_a_failure() -> None:
    check_sums(TIMED)
    wrong = replace(TIMED[1], value=1.1)
    with pytest.raises(FailedError, match="kernel 12"):
        check_sums([TIMED[0], wrong])


def test_a_table_sets_times_beside_bounds() -> None:
    table = rows(kernel_bounds(processor("power2")), TIMED)
    assert len(table) == 24
    assert [build.title for build in used(table)] == ["gcc -O0", "gcc -O3 -march=native"]
    found = as_json(table)[11]
    assert (found["cycles"], found["limit"]) == (1.0, "mem")
    assert [one["share"] for one in found["measured"]] == [0.5, 0.5]
    assert found["measured"][0]["mflops"] == pytest.approx(1000)
    assert table[0].advice == ""
