"""What one rank's messages to others, or theirs to it, take: published, fitted, of LogGP."""

from __future__ import annotations

import math
from typing import Any

import msgspec
import numpy as np
import pytest

from nhalf.machines.catalogue import machine
from nhalf.machines.formula import formulas
from nhalf.machines.machine import FittedModel, LogGP, Machine, PatternModel, Segment
from nhalf.machines.message import Messages
from nhalf.machines.parts import parts_of

US = 1e-6
FANS = ("one-to-many", "many-to-one")
ONE_S, APART_S, PER_BYTE_S = 8e-6, 4e-6, 1e-9


def measured_fan_s(size_bytes: float, ranks: int) -> float:
    """A round of a fan on a LogGP machine: messages a gap apart."""
    return (ranks - 1) * (APART_S + size_bytes * PER_BYTE_S)


def fitted(pattern: str) -> PatternModel:
    """The exact sums of p ranks for that."""
    return PatternModel(
        pattern=pattern,
        startup_s={"p": APART_S, "1": -APART_S},
        per_byte_s={"p": PER_BYTE_S, "1": -PER_BYTE_S},
        startup_ci={"p": (APART_S, APART_S), "1": (-APART_S, -APART_S)},
    )


def loggp_machine() -> Machine:
    line = Segment(from_bytes=0, to_bytes=1 << 20, t0_s=ONE_S, r_inf_Bps=1 / PER_BYTE_S)
    curve = FittedModel(transport="mpi", pattern="pingpong", ranks=2, segments=(line,))
    return Machine(name="exact", models=(curve,), patterns=tuple(map(fitted, FANS)))


@pytest.mark.parametrize("name", ["M", "R"])
def test_fitted_fans_are_taken_at_partners(name: str) -> None:
    known = loggp_machine()
    assert known.patterns[0].time_s(1000, 5) == pytest.approx(measured_fan_s(1000, 5))
    part = parts_of(Messages(known)).functions[name]
    for size in (0, 1000, 65536):
        for others in (1, 2, 16):
            expected = others * (APART_S + size * PER_BYTE_S)
            assert float(part(size, others)) == pytest.approx(expected, rel=1e-9)
        assert float(part(size, 0)) == 0


@pytest.mark.parametrize(
    ("gaps", "apart_s"),
    [
        ((), (1e-6, 4e-6)),
        (((0, 1 << 20, 1e-6, 1e9),), (1.1e-6, 5e-6)),
        (((0, 500, 1e-6, 1e15), (500, 1 << 20, 5e-7, 1e9)), (1e-6, 4.5e-6)),
        (((0, 500, 1e-6, 1e15), (500, 1 << 20, -3e-6, 1e9)), (1e-6, 4e-6)),
        (((0, 500, 1e-6, 1e15), (500, 1 << 20, 9e-6, 1e9)), (1.1e-6, 5e-6)),
        (((0, 1 << 20, 1e-6, math.inf),), (1e-6, 4e-6)),
    ],
    ids=["not measured", "as long", "half", "below nothing", "never longer", "constant"],
)
def test_a_gap_that_overheads_hide_is_seen_in_longer_messages(
    gaps: tuple[tuple[int, int, float, float], ...], apart_s: tuple[float, float]
) -> None:
    """The gap of an empty message takes no longer than its overhead of 1 us."""
    line = Segment(from_bytes=0, to_bytes=1 << 20, t0_s=ONE_S, r_inf_Bps=1e9)
    segments = [
        Segment(from_bytes=first, to_bytes=last, t0_s=t0_s, r_inf_Bps=rate)
        for first, last, t0_s, rate in gaps
    ]
    curves = [FittedModel(transport="mpi", pattern="pingpong", ranks=2, segments=(line,))]
    if gaps:
        gap = FittedModel(transport="mpi", pattern="gap", ranks=2, segments=tuple(segments))
        curves.append(gap)
    loggp = LogGP(
        transport="mpi", send_overhead_s=1e-6, recv_overhead_s=1e-6, gap_s=1e-6,
        gap_per_byte_s=1e-9,
    )  # fmt: skip
    known = Machine(name="hidden", models=tuple(curves), loggp=(loggp,))
    part = parts_of(Messages(known)).functions["M"]
    assert [float(part(size, 1)) for size in (100, 4000)] == pytest.approx(apart_s)


@pytest.mark.parametrize("name", ["sp1-mpl", "sp2-mpl", "sp2-pvme", "spp1000-pvm"])
def test_published_fans_count_partners(name: str) -> None:
    """In the study's formulas p is the number of partners of the one rank."""
    found = [model for model in machine(name).patterns if model.pattern in FANS]
    assert found
    for model in found:
        assert (model.counts, model.letter) == ("partners", "q")


def test_two_ranks_are_one_partner() -> None:
    one, many = machine("sp1-mpl").patterns[:2]
    assert one.time_s(0, 2) == pytest.approx((-9 + 28) * US)
    assert many.time_s(0, 5) == pytest.approx((-26 + 40 * math.sqrt(4) + 7.6 * 4) * US)
    part = parts_of(Messages(machine("sp1-mpl"))).functions["M"]
    assert np.asarray(part(1000, [1, 2])) == pytest.approx([133e-6, 275e-6])


def test_formulas_say_what_they_count() -> None:
    known = machine("sp1-mpl")
    one = msgspec.structs.replace(known, models=(), patterns=known.patterns[:1])
    text = formulas(one, "text")
    assert "q partners" in text
    assert "T(n, q) = " in text
    assert "28 µs · q" in text
    assert "1 ≤ q" in text
    assert r"\,q" in formulas(one, "latex")
    names: dict[str, Any] = {}
    exec(formulas(one, "python"), names)
    (function,) = (value for key, value in names.items() if key.startswith("one_to_many"))
    assert function(1000, 7) == pytest.approx(one.patterns[0].time_s(1000, 8))
