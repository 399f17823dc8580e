"""The time of a program from its source."""

from __future__ import annotations

from pathlib import Path

import pytest
from msgspec.structs import replace
from rich.console import Console

from nhalf.decide.estimate.estimate import Estimate, estimate
from nhalf.decide.estimate.evaluation import SourceQuestion
from nhalf.decide.program import followed
from nhalf.decide.program.target import Target
from nhalf.loops.program.ranks import MpiProgram
from nhalf.loops.source.preprocessed import HeaderSearch
from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.machines.processor import Processor, ProcessorOperation
from nhalf.present.program.estimate import show_estimate

PROGRAMS = Path(__file__).parents[3] / "data" / "estimate"
HALO = PROGRAMS / "halo.c"


def estimated() -> Estimate:
    target = Target(Messages(catalogue.machine("sp2-mpl")))
    source = MpiProgram(HALO, HeaderSearch(), ["n"])
    question = SourceQuestion(source, target, None, messages_alone=True)
    return estimate(question, {"n": 1000}, 4)


def test_it_says_that_so_many_messages_are_not_followed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert estimated().is_followed
    monkeypatch.setattr(followed, "MESSAGES_MAX", 0)
    alone = estimated()
    assert not alone.is_followed
    show_estimate(Console(), alone)
    assert "they share nothing of it" in capsys.readouterr().out


def test_runs_that_overlap_take_less_than_their_chains_and_the_lower_end_is_below() -> None:
    operations = (
        ProcessorOperation(name="add", per_cycle=2, latency_cycles=3),
        ProcessorOperation(name="multiply", per_cycle=2, latency_cycles=4),
        ProcessorOperation(name="load", per_cycle=2),
        ProcessorOperation(name="store", per_cycle=1),
    )
    core = Processor(name="wide", clock_hz=1e9, issue_per_cycle=6, operations=operations)
    numbers = {"n": 128, "steps": 10, "width": 32}
    source = MpiProgram(PROGRAMS / "wavefront.c", HeaderSearch(), list(numbers))
    target = Target(Messages(catalogue.machine("sp2-mpl")))
    waits, overlaps = (
        estimate(SourceQuestion(source, target, own), numbers, 2)
        for own in (core, replace(core, reorder_buffer_instructions=400))
    )
    line = ("computing", 23)
    times_s = [next(part.time_s for part in own.parts if (part.name, part.line) == line)
               for own in (waits, overlaps)]  # fmt: skip
    assert times_s[0] == pytest.approx(10 * 64 * (7 * 128 + 4 * 5) * 1e-9)
    assert times_s[1] < 0.6 * times_s[0]
    assert overlaps.low_s <= overlaps.time_s < waits.time_s
