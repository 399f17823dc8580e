"""The time of a program from its source."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from nhalf.decide.estimate.estimate import Estimate, estimate
from nhalf.decide.estimate.evaluation import SourceQuestion
from nhalf.decide.program import followed
from nhalf.decide.program.target import Target
from nhalf.loops.program.ranks import MpiProgram
from nhalf.loops.source.preprocessed import HeaderSearch
from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.present.program.estimate import show_estimate

HALO = Path(__file__).parents[3] / "data" / "estimate" / "halo.c"


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
