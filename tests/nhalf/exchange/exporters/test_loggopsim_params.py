"""Options of LogGOPSim: whole numbers that stand for the times of the machine."""

from __future__ import annotations

import re
from collections.abc import Callable

import msgspec
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import ExportOptions
from nhalf.exchange.exporters.loggopsim_params import LogGOPSimParams
from nhalf.facts.facts import Facts
from nhalf.machines import catalogue
from nhalf.machines.change import change
from nhalf.machines.machine import FittedModel, LogGP, Machine, Network, Protocol, Segment
from nhalf.machines.topology import Crossbar

LOGGP = LogGP(
    transport="mpi",
    latency_s=5e-6,
    send_overhead_s=1e-6,
    recv_overhead_s=2e-6,
    gap_s=4e-6,
    gap_per_byte_s=1.25e-9,
    half_round_trip_s=8e-6,
)
CURVE = FittedModel(
    transport="mpi",
    pattern="pingpong",
    ranks=2,
    placement="other-node",
    segments=(
        Segment(from_bytes=0, to_bytes=1023, t0_s=10e-6, r_inf_Bps=1e8),
        Segment(from_bytes=1024, to_bytes=65536, t0_s=20e-6, r_inf_Bps=1e10),
    ),
)


def box(*loggp: LogGP, models: tuple[FittedModel, ...] = ()) -> Machine:
    return Machine(name="box", loggp=loggp, models=models)


def options(text: str) -> dict[str, int]:
    line = [line for line in text.splitlines() if not line.startswith("#")]
    assert len(line) == 1
    assert re.fullmatch(r"(-[LogGOS] \d+ ?)+", line[0])
    return {name: int(value) for name, value in re.findall(r"-(\w) (\d+)", line[0])}


def scale(text: str) -> int:
    found = re.search(r"The unit of time is (?:1|1/(\d+)) ns", text)
    assert found is not None
    return int(found[1] or 1)


def of(machine: Machine | Facts, mpi: str = "") -> tuple[dict[str, int], str]:
    text = LogGOPSimParams(ExportOptions(mpi=mpi)).text(machine)
    return options(text), text


def test_a_fast_network_has_a_finer_unit() -> None:
    found, text = of(box(LOGGP))
    assert scale(text) == 100
    assert found == {"L": 500000, "o": 150000, "g": 400000, "G": 125, "O": 0, "S": 65535}
    assert "In whole nanoseconds G = 1.25 has too few digits" in text
    assert "S is LogGOPSim's own" in text


def test_a_slow_network_needs_none() -> None:
    found, text = of(box(msgspec.structs.replace(LOGGP, gap_per_byte_s=120e-9)))
    assert scale(text) == 1
    assert found == {"L": 5000, "o": 1500, "g": 4000, "G": 120, "O": 0, "S": 65535}
    assert "has too few digits" not in text


@given(st.floats(1e-13, 1e-6), st.floats(0, 1e-3))
def test_resolution_is_half_a_percent(gap_per_byte_s: float, latency_s: float) -> None:
    one = msgspec.structs.replace(
        LOGGP, gap_per_byte_s=gap_per_byte_s, latency_s=latency_s, half_round_trip_s=None
    )
    found, text = of(box(one))
    assert found["G"] / scale(text) * 1e-9 == pytest.approx(gap_per_byte_s, rel=0.0051)
    assert found["L"] / scale(text) * 1e-9 == pytest.approx(latency_s, abs=5e-10)


def test_from_a_curve_shares_are_assumed() -> None:
    found, text = of(box(models=(CURVE,)))
    assert scale(text) == 1000
    # 25 % of 10 us; the slope of the largest messages.
    assert found == {"L": 5000000, "o": 2500000, "g": 2500000, "G": 100, "O": 0, "S": 65536}
    assert "o and g are 25% of t0 each" in text
    known = msgspec.structs.replace(box(models=(CURVE,)), protocol=Protocol(rendezvous_bytes=99))
    assert of(known)[0]["S"] == 99


def test_what_a_change_assumed_is_kept() -> None:
    machine = msgspec.structs.replace(box(models=(CURVE,)), network=Network(topology=Crossbar()))
    found, _ = of(change(machine, ["network.latency=/2"]))
    assert (found["o"], found["L"]) == (2500000, 2500000)


@pytest.mark.parametrize(
    "members", [{"latency_s": -1e-6}, {"latency_s": None}, {"identifiable": False}]
)
def test_an_unknown_latency_is_never_negative(members: dict[str, object]) -> None:
    found, text = of(box(msgspec.structs.replace(LOGGP, **members)))
    assert (found["o"], found["L"]) == (200000, 400000)
    assert "L cannot be told from o" in text


def test_parts_may_be_unknown() -> None:
    bare = msgspec.structs.replace(LOGGP, gap_s=None, gap_per_byte_s=None)
    found, text = of(box(bare))
    assert (found["g"], found["G"]) == (1500, 0)
    assert "g is unknown" in text
    assert of(box(bare, models=(CURVE,)))[0]["G"] == 100


def test_libraries_and_placements() -> None:
    other = msgspec.structs.replace(LOGGP, mpi="x", latency_s=7e-6)
    with pytest.raises(InputError, match="name one with --mpi: mpi, x"):
        of(box(LOGGP, other))
    assert of(box(LOGGP, other), "x")[0]["L"] == 700000
    with pytest.raises(InputError, match="unknown library 'y'"):
        of(box(LOGGP, models=(CURVE,)), "y")
    between = msgspec.structs.replace(LOGGP, placement="other-node", latency_s=9e-6)
    assert of(box(LOGGP, between))[0]["L"] == 900000
    with pytest.raises(InputError, match="has no curve of a ping-pong"):
        of(box())


def test_of_a_run(
    facts_of: Callable[[pl.LazyFrame], Facts], make_logp: Callable[..., pl.LazyFrame]
) -> None:
    found, text = of(facts_of(make_logp()))
    unit = scale(text)
    # L is that of a message of one byte.
    assert found["L"] == pytest.approx(5000 * unit, rel=1e-3)
    assert found["o"] == 1500 * unit
    assert found["G"] == 1 * unit


@pytest.mark.parametrize("name", catalogue.names())
def test_machines_of_record(name: str) -> None:
    found, _ = of(catalogue.machine(name))
    assert found["o"] > 0
    assert found["G"] >= 100
