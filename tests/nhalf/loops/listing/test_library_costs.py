"""Functions of the C library in a listing, and what they add to the time of a loop."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from nhalf.base import native_files
from nhalf.loops.listing import library_costs as costs
from nhalf.loops.listing.decoded import decoded
from nhalf.loops.listing.library_costs import call_costs, called_functions
from nhalf.loops.listing.listing import instruction
from nhalf.loops.schedule.executed import trace_cycles
from nhalf.loops.schedule.tracing import Executed
from tests.nhalf.loops.schedule.test_core import PROCESSOR

NATIVE = Path(__file__).resolve().parents[4] / "native"
CALLS = ("call\texp@PLT", "callq\tlog", "call\t*sin@GOTPCREL(%rip)", "call\t*%rax", "addq $1, %rdx")


def test_functions_are_found_by_name() -> None:
    assert called_functions(map(instruction, CALLS)) == {"exp", "log", "sin"}


def test_a_call_blocks_the_front_end() -> None:
    lines = ["call\texp@PLT", "divsd %xmm1, %xmm2", "nop", "nop", "nop", "nop"]
    instructions = decoded([instruction(line) for line in lines], PROCESSOR, {"exp": 20.0})
    trace = [Executed(position, 0) for _ in range(400) for position in range(len(lines))]
    # All six issue in 6/4 of a cycle; the div, which waits for the one before, takes 14.
    assert trace_cycles(trace, instructions, PROCESSOR) / 400 == pytest.approx(21.5, rel=0.01)
    unknown = decoded([instruction(line) for line in lines], PROCESSOR, {"cos": 20.0})
    assert trace_cycles(trace, unknown, PROCESSOR) / 400 == pytest.approx(14, rel=0.01)


@pytest.mark.skipif(shutil.which("gcc") is None, reason="needs gcc")
def test_what_is_measured_once_is_known(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(native_files, "include_folder", lambda: NATIVE)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(costs, "_cycles_by_function", {})
    costs_by_name = call_costs({"exp", "unheard_of"})
    assert list(costs_by_name) == ["exp"]
    assert costs_by_name["exp"] > 0
    monkeypatch.setattr(costs, "_measured", lambda names: pytest.fail("measured twice"))
    assert call_costs({"exp", "unheard_of"}) == costs_by_name
