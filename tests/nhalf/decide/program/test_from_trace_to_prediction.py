"""From a program to its prediction: traced, shown, predicted, each with what is known exactly."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.facts.program.program import Program
from nhalf.machines.machine_file import write
from tests.nhalf.decide.program.known_programs import RATE_BPS, machine, replayed_s
from tests.nhalf.measure.traced.programs import CASES, built, traced
from tests.nhalf.traced_programs import program, sent, stored
from tests.server import Ended

RANKS, ROUNDS = 3, 50
HOPS = RANKS * ROUNDS


@pytest.mark.full
@pytest.mark.skipif(not CASES, reason="no MPI library here")
def test_a_relay_takes_its_hops(tmp_path: Path, call: Callable[..., Ended]) -> None:
    library, compiler = CASES[0]
    relay = built(library, compiler, "relay.cpp", tmp_path)
    folder = tmp_path / "trace"
    traced(library, folder, RANKS, [str(relay), str(ROUNDS)], "--detail", "timeline")

    shown = json.loads(call("show", folder, "--json").out)
    assert shown["shape"]["words"] == f"ring of {RANKS} ranks, one way"
    assert [(row["from"], row["to"], row["count"]) for row in shown["messages"]] == [
        (rank, (rank + 1) % RANKS, ROUNDS) for rank in range(RANKS)
    ]
    late = [row for row in shown["late_messages"] if row["cause"] == "late sender"]
    assert {row["late_rank"] for row in late} == {(row["rank"] - 1) % RANKS for row in late}
    assert len(late) == RANKS

    # Messages are after each other, so each takes what the machine says, and computing what it did.
    traced_program = Program.open(folder)
    slow_s, fast_s = (replayed_s(traced_program, machine(factor)) for factor in (3000.0, 1000.0))
    assert slow_s - fast_s == pytest.approx(2 * HOPS)
    assert fast_s == pytest.approx(HOPS * (1 + 1000 / RATE_BPS), abs=traced_program.elapsed_s)

    for name, factor in (("here", 1000.0), ("there", 3000.0)):
        write(machine(factor), tmp_path / f"{name}.toml")
    here, there = tmp_path / "here.toml", tmp_path / "there.toml"
    told = json.loads(
        call("predict", folder, "--machine", there, "--traced-on", here, "--json").out
    )
    assert told["measured_s"] == pytest.approx(traced_program.elapsed_s)
    assert told["error"] == pytest.approx(fast_s / told["undisturbed_s"] - 1)
    # A machine that explains the trace that badly predicts nothing; its middle is exact.
    assert told["time_s"] is None
    middle_s = (told["low_s"] * told["high_s"]) ** 0.5
    assert middle_s == pytest.approx(slow_s / fast_s * told["undisturbed_s"])


@pytest.mark.parametrize("several", [False, True])
def test_counts_that_predict_nothing_say_what_to_do(
    tmp_path: Path, call: Callable[..., Ended], several: bool
) -> None:
    """The machine that they were counted on does not explain them, and there is no order."""
    rows = sent({(0, 1): 10_000}, time_s=0.5, waiting_s=0.4)
    folder = stored(program(2, rows), tmp_path / "counts")
    for name, factor in (("slow", 3e6), ("fast", 1000.0)):
        write(machine(factor), tmp_path / f"{name}.toml")
    names = ("slow", "fast") if several else ("slow",)
    machines = ",".join(str(tmp_path / f"{name}.toml") for name in names)
    for options in ([], ["--json"]):
        here = ["--traced-on", tmp_path / "slow.toml"]
        refused = call("predict", folder, "--machine", machines, *here, *options)
        refused.is_error(2, "counts has no timeline", "trace again with --detail timeline")
        assert not refused.out
