"""A user's file: what compilers make of its loops, how often these run, and what they take."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from nhalf.base import native_files
from nhalf.base.errors import FailedError
from nhalf.loops import execution
from nhalf.loops.builds import Build, builds
from nhalf.loops.execution import Execution, cycles_of, followed_cycles
from nhalf.loops.file_ladders import Ladders, ladders
from nhalf.loops.rungs import READABLE
from nhalf.loops.source.ma_bounds import Bound, bound
from nhalf.loops.source.program import ReadingOptions, read_program
from nhalf.machines.processor_file import processor
from tests.nhalf.loops.schedule.test_core import PROCESSOR

NATIVE = Path(__file__).resolve().parents[3] / "native"
SOURCE = """#include <math.h>
typedef double real;
enum { width = 5 };
real field[100][width];
int length;
void inner(int n, real *restrict x, const real y[], float scale) {
  for (int i = 0; i < n; i++)
    for (int k = 1; k < n; k += 2) x[k] = scale * sqrt(y[k]) + x[k];
}
void whole(void) {
  for (int k = 0; k < length; k++) field[k][width - 1] += 1.0;
}
void two(int n, real *restrict x) {
  for (int k = 0; k < n; k++) x[k] = 0.5 * x[k];
  for (int k = 1; k < n; k++) x[k] = 0.5 * x[k - 1];
}
double chosen(int n, const real *restrict y) {
  double sum = 0;
  for (int k = 0; k < n; k++) {
    if (y[k] > 0.5) sum += y[k];
  }
  return sum;
}
int main(void) { return 0; }
"""


@pytest.fixture(name="path")
def _path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(native_files, "include_folder", lambda: NATIVE)
    monkeypatch.setattr(execution, "SAMPLES", 3)
    monkeypatch.setattr(execution, "SECONDS", 1e-6)
    path = tmp_path / "source.c"
    path.write_text(SOURCE, "utf-8")
    return path


def bounds(path: Path, function: str) -> list[Bound]:
    loops = read_program(path, ReadingOptions(function)).loops
    return [bound(counts, processor("power2")) for counts in loops]


def run(path: Path, function: str, **numbers: int) -> dict[int, int]:
    """Iterations of each loop of a function, by its line."""
    execution_of_file = Execution(path, numbers)
    cycles_by_line = cycles_of(
        execution_of_file, builds()[0], [loop.counts for loop in bounds(path, function)]
    )
    assert all(cycles > 0 for cycles in cycles_by_line.values())
    return execution_of_file.iterations


def test_loops_are_counted_while_they_run(path: Path) -> None:
    assert run(path, "inner", n=10) == {8: 50}
    assert run(path, "whole", length=7) == {11: 7}


def test_what_cannot_be_run_has_a_reason(path: Path) -> None:
    with pytest.raises(FailedError, match="--set n=1000"):
        run(path, "inner")
    with pytest.raises(FailedError, match="never runs"):
        run(path, "whole")
    with pytest.raises(FailedError, match="two has several loops"):
        run(path, "two", n=10)
    path.write_text(SOURCE.replace("real field", "extern real field"), "utf-8")
    with pytest.raises(FailedError, match="cannot be linked"):
        run(path, "whole", length=7)
    path.write_text(SOURCE.replace("field[k][width - 1] += 1.0", "field[k * 1000000][0] += 1.0"))
    with pytest.raises(FailedError, match="fails with data of ours"):
        run(path, "whole", length=1000)


@pytest.mark.skipif(platform.machine() not in READABLE, reason="listings of x86-64")
def test_each_build_has_a_ladder(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    three_builds = [Build("gcc", ("-O0",)), Build("gcc", ("-O2",)), Build("no-compiler", ("-O2",))]
    monkeypatch.setattr("nhalf.loops.file_ladders.builds", lambda: three_builds)
    (loop,) = bounds(path, "inner")
    file_ladders = ladders(path, [loop], processor("power2"), Execution(path, {"n": 10}))
    slow, fast = [ladder.climb for ladder in file_ladders.of(loop)]
    assert (slow.is_optimised, fast.is_optimised) == (False, True)
    assert (slow.measured_cycles or 0) > 0
    assert (slow.emitted_cycles or 0) > (fast.emitted_cycles or 0) > 0
    (reason,) = file_ladders.reasons
    assert "no-compiler" in reason
    unrun = ladders(path, [loop], processor("power2"), None)
    assert [ladder.climb.measured_cycles for ladder in unrun.ladders] == [None, None]


@pytest.mark.skipif(platform.machine() not in READABLE, reason="listings of x86-64")
def test_what_is_executed_is_followed(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build = Build("gcc", ("-O2",))
    monkeypatch.setattr("nhalf.loops.file_ladders.builds", lambda: [build])
    (loop,) = bounds(path, "chosen")
    # The listing suggests that some passes skip the add; on data of ones none does.
    (listed,) = ladders(path, [loop], PROCESSOR, None).ladders
    (executed,) = ladders(path, [loop], PROCESSOR, Execution(path, {"n": 2000})).ladders
    assert (listed.climb.scheduled_cycles or 0) < 2
    assert executed.climb.scheduled_cycles == pytest.approx(2, rel=0.1)
    many = Execution(path, {"n": 1_000_000})
    with pytest.raises(FailedError, match="more instructions than can be followed"):
        followed_cycles(many, build, PROCESSOR, [loop.counts])


def test_without_a_compiler_there_is_a_reason(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "machine", lambda: "x86_64")
    monkeypatch.setattr("nhalf.loops.builds.COMPILERS", ())
    file_ladders = ladders(path, bounds(path, "inner"), processor("power2"), None)
    assert file_ladders == Ladders(reasons=("there is no C compiler",))
