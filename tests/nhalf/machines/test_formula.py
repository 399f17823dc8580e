"""Printed formulas: functions of Python give the numbers of the models."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from nhalf.machines import catalogue
from nhalf.machines.formula import _LATEX, _PYTHON, formulas
from nhalf.machines.leftover import Leftover
from nhalf.machines.machine import FittedModel, Machine, PatternModel, Segment
from nhalf.models.terms import TERMS

RECORDS = catalogue.names()


def functions(machine: Machine) -> dict[str, Any]:
    """What the printed text defines."""
    namespace: dict[str, Any] = {}
    exec(formulas(machine, "python"), namespace)
    return namespace


def only(machine: Machine) -> Any:
    """The one function of a machine with one model."""
    return next(
        value
        for name, value in functions(machine).items()
        if callable(value) and not name.startswith("_")
    )


@pytest.mark.parametrize("name", sorted(TERMS))
@pytest.mark.parametrize("ranks", [2, 3, 8, 1000])
def test_every_term_is_the_same_in_python(name: str, ranks: int) -> None:
    model = PatternModel(pattern="bcast", startup_s={name: 1.5e-6}, per_byte_s={name: -2e-9})
    function = only(Machine(name="m", patterns=(model,)))
    assert function(100, ranks) == pytest.approx(model.time_s(100, ranks))
    assert name in _LATEX or name == "1"
    assert name in _PYTHON or name in ("1", "p")


@pytest.mark.parametrize("name", RECORDS)
def test_functions_of_machines_of_record_give_their_times(name: str) -> None:
    machine = catalogue.machine(name)
    for model in machine.models:
        function = only(Machine(name="m", models=(model,)))
        size = model.segments[-1].to_bytes
        assert function(size) == pytest.approx(model.time_s(size))
    for pattern in machine.patterns:
        function = only(Machine(name="m", patterns=(pattern,)))
        n, p = pattern.from_bytes, max(pattern.from_ranks, 2)
        assert function(n, pattern.counted(p)) == pytest.approx(pattern.time_s(n, p))
    assert len(functions(machine)) > 1


@pytest.mark.parametrize("name", RECORDS)
def test_texts_and_latex_name_every_model(name: str) -> None:
    machine = catalogue.machine(name)
    for form in ("text", "latex"):
        text = formulas(machine, form)
        assert all(model.pattern in text for model in [*machine.models, *machine.patterns])
        assert text.count("{") == text.count("}")


def test_a_correction_is_part_of_the_function() -> None:
    cells = [(n, p) for n in (1.0, 64.0, 4096.0) for p in (2, 3, 4, 8)]
    leftover = Leftover(
        size_bytes=tuple(n for n, _ in cells),
        ranks=tuple(p for _, p in cells),
        log_ratio=tuple(0.05 * math.sin(3 * k) for k in range(len(cells))),
        scale=(2.0, 8.0, 2.0),
        nugget=1e-4,
        variance=0.01,
    )
    regions = (
        PatternModel(pattern="bcast", to_bytes=99, to_ranks=8, startup_s={"p": 1e-6}),
        PatternModel(
            pattern="bcast",
            from_bytes=100,
            to_bytes=4096,
            to_ranks=8,
            startup_s={"log2(p)": 1e-6},
            leftover=leftover,
        ),
    )
    function = only(Machine(name="m", patterns=regions))
    assert function(50, 4) == 4e-6
    differing = 0
    for n in (100, 1000, 4096):
        for p in (2, 5, 8):
            assert function(n, p) == pytest.approx(regions[1].time_s(n, p), rel=1e-9)
            differing += not np.isclose(function(n, p), regions[1].sums_s(n, p), rtol=1e-4)
    assert differing > 5
    for place in ((4097, 2), (1, 9)):
        with pytest.raises(ValueError, match="beyond"):
            function(*place)


def test_rates_without_end_and_empty_sums_are_formulas() -> None:
    flat = FittedModel(
        transport="mpi",
        pattern="x",
        ranks=2,
        segments=(Segment(from_bytes=0, to_bytes=9, t0_s=0.0),),
    )
    assert only(Machine(name="m", models=(flat,)))(5) == 0.0
    assert "T(n) = 0 " in formulas(Machine(name="m", models=(flat,)), "text")
    assert formulas(Machine(name="m"), "python") == ""


def test_text_has_units() -> None:
    text = formulas(catalogue.machine("sp2-mpl"), "text")
    assert "T(n, p) = −50 µs + 191 µs · ⌊log₂p⌋ + 90 ns · ⌊log₂p⌋ n   for 2049 ≤ n, 2 ≤ p" in text
