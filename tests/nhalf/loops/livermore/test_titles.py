"""What was done to a kernel is what the advice for the plain one says, without any timing."""

from __future__ import annotations

import platform
import shutil
from dataclasses import replace as replaced
from pathlib import Path

import pytest
from msgspec.structs import replace

from nhalf.base import native_files
from nhalf.loops.builds import Build
from nhalf.loops.livermore.corpus import KernelBound, sources_of
from nhalf.loops.livermore.table import remedies
from nhalf.loops.livermore.titles import TUNED
from nhalf.loops.rungs import READABLE, climb, listing, rungs
from nhalf.loops.source.ma_bounds import bound
from nhalf.loops.source.program import read_program
from nhalf.machines.processor import Name, ProcessorOperation
from tests.nhalf.loops.schedule.test_core import PROCESSOR

NATIVE = Path(__file__).resolve().parents[4] / "native"
PLAIN = Build("gcc", ("-O2",))
PLAIN_BUILDS = (PLAIN, Build("gcc", ("-O3", "-mavx2", "-mfma")))
WIDE: tuple[Name, ...] = ("add", "multiply", "fused_multiply_add", "load", "store")
VECTORS = replace(
    PROCESSOR,
    operations=tuple(
        ProcessorOperation(name=name, lanes=lanes, per_cycle=2, latency_cycles=4)
        for name in WIDE
        for lanes in (1, 8)
    ),
)
"""A processor with vectors of eight numbers."""


@pytest.fixture(autouse=True)
def _ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_files, "include_folder", lambda: NATIVE)


def test_every_tuned_source_is_listed_and_stands_beside_the_plain_one() -> None:
    shipped = {int(path.stem[-2:]) for path in (NATIVE / "node/livermore").glob("tuned_*.c")}
    assert shipped == set(TUNED)
    plain, tuned = (sources_of(one) for one in (PLAIN, replaced(PLAIN, is_tuned=True)))
    for number, path in tuned.items():
        assert (path != plain[number]) == (number in TUNED)
        assert f"void kernel_{number}(long n)" in path.read_text("utf-8")


@pytest.mark.sampled(4)
@pytest.mark.skipif(
    shutil.which("gcc") is None or platform.machine() not in READABLE,
    reason="needs gcc on x86-64",
)
@pytest.mark.parametrize("number", TUNED)
def test_the_advice_names_what_was_done(number: int) -> None:
    source = sources_of(PLAIN)[number]
    program = read_program(source)
    loops = tuple(bound(one, VECTORS) for one in program.loops)
    climbs = []
    for build in PLAIN_BUILDS:
        text = listing(build.compiler, build.level, source)
        emitted = rungs(text, program.loops, VECTORS, is_optimised=True)
        climbs.append(climb(loops, [one for one in emitted if one is not None], build, None))
    advice = "; ".join(remedies(KernelBound(number, loops), climbs))
    for transformation in TUNED[number]:
        assert transformation in advice
