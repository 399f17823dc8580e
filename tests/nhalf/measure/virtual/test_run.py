"""`nhalf run --machine`: the probe on the libraries' own code, in virtual time."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.measure.probe.process import LaunchError
from nhalf.measure.probe.subject import library_subject
from nhalf.measure.virtual.machine import VirtualMachine
from nhalf.measure.virtual.region import VirtualProgress
from nhalf.measure.virtual.start import start_virtually
from nhalf.measure.virtual.subject import VirtualProbe, VirtualRanks
from nhalf.mpi.discover import libraries
from nhalf.sites.health import Examiner
from nhalf.store.run import Run
from tests.nhalf.measure.virtual.programs import in_turn, library_of
from tests.patience import duration, patience_s

Call = Callable[..., Any]
SIZES = "0,8,64,256,1K,4K,16K,32K,64K,256K,1M,4M"

PROMISE = """
[[expect]]
metric = "time"
pattern = "pingpong"
bytes = 8
at_most = "{bound}"
"""


def points_of(folder: Path) -> list[dict[str, Any]]:
    """The points of a run's journal, without what real time has to do with."""
    events = [event for event in Run.open(folder).whole_events() if event["event"] == "point"]
    return [{key: event[key] for key in event if key != "started_s"} for event in events]


def test_ping_pongs_are_the_machines_curves(call: Call, tmp_path: Path) -> None:
    names = ",".join(library_of(vendor).name for vendor in ("mpich", "intel"))
    words = ("--pattern", "pingpong", "--bytes", SIZES, "--mpi", names)
    ended = call("run", "--machine", "altix-bx2", *words, "--out", tmp_path / "run")
    assert ended.code == 0, ended.err
    points = points_of(tmp_path / "run")
    assert len(points) == 2 * 2 * 12
    messages = Messages(catalogue.machine("altix-bx2"))
    curves = {"1x2": messages.within_node, "2x1": messages.between_nodes[0][1]}
    for point in points:
        first_s, second_s = point["samples_s"]
        assert first_s == second_s
        expected_s = curves[point["placement"]].time_s(point["bytes"])
        assert first_s == pytest.approx(expected_s, rel=1e-5), point
    run = Run.open(tmp_path / "run")
    assert run.virtual == {"machine": "altix-bx2", "nodes": 2, "library": ""}
    assert run.environment["host"] == "virtual: altix-bx2"
    assert run.plan["seed"] == 1
    assert "virtual: altix-bx2" in ended.out

    shown = call("show", tmp_path / "run")
    assert shown.out.startswith("virtual: altix-bx2; every launch takes this time")
    assert " exact " in shown.out
    assert call("report", tmp_path / "run").code == 0
    page = (tmp_path / "run/report.html").read_text()
    assert "Message performance of virtual: altix-bx2" in page
    assert "launch of every point: launches are equal" in page

    expected = tmp_path / "expected.toml"
    for bound, code in (("1.3us", 0), ("1.2us", 1)):
        expected.write_text(PROMISE.format(bound=bound))
        assert call("check", tmp_path / "run", "--expect", expected).code == code
    fitted = call("fit", tmp_path / "run", "--json")
    assert fitted.code == 0, fitted.err
    starts_s = [model["segments"][0]["t0_s"] for model in json.loads(fitted.out)["models"]]
    assert starts_s == pytest.approx([1.25e-6] * 4, rel=1e-2)


def test_odd_numbers_of_ranks_have_nodes_of_their_own(call: Call, tmp_path: Path) -> None:
    words = ("--pattern", "barrier", "--ranks", "3,5,8", "--mpi", library_of("mpich").name)
    ended = call("run", "--machine", "altix-bx2", *words, "--out", tmp_path / "run")
    assert ended.code == 0, ended.err
    placed = {(point["ranks"], point["placement"]) for point in points_of(tmp_path / "run")}
    assert placed == {(3, "3x1"), (5, "5x1"), (8, "4x2")}


@pytest.mark.full
@in_turn("openmpi")
def test_a_run_repeats_itself(vendor: str, call: Call, tmp_path: Path) -> None:
    words = ("--pattern", "allreduce,stream", "--bytes", "8,64K", "--ranks", "8")
    for name in ("a", "b"):
        out = ("--mpi", library_of(vendor).name, "--out", tmp_path / name)
        ended = call("run", "--machine", "altix-bx2", *words, *out)
        assert ended.code == 0, ended.err
    first, second = (points_of(tmp_path / name) for name in ("a", "b"))
    assert len(first) == 4
    assert first == second
    compared = call("compare", tmp_path / "a", tmp_path / "b", "--json")
    assert compared.code == 0
    assert json.loads(compared.out)["verdict"] == "equal"


@pytest.mark.full
@pytest.mark.slow
def test_a_comparison_says_which_side_is_virtual(call: Call, tmp_path: Path) -> None:
    mpi = library_of("mpich").name
    words = ("--pattern", "pingpong", "--bytes", "8,1K", "--mpi", mpi, "--placement", "cores")
    for name, machine in (("real", ()), ("virtual", ("--machine", "sp2-mpl"))):
        launches = () if machine else ("--launches", "3", "--budget", duration(5))
        ended = call("run", *machine, *words, *launches, "--out", tmp_path / name)
        assert ended.code == 0, ended.err
    compared = call("compare", tmp_path / "real", tmp_path / "virtual")
    assert "real: " in compared.out
    assert "virtual is virtual: sp2-mpl" in " ".join(compared.out.split())


def test_a_run_goes_on_with_its_machine(call: Call, tmp_path: Path) -> None:
    words = ("--pattern", "pingpong", "--bytes", "8", "--mpi", library_of("mpich").name)
    call("run", "--machine", "altix-bx2", *words, "--out", tmp_path / "run")
    journal = tmp_path / "run/journal.jsonl"
    lines = journal.read_text().splitlines(keepends=True)
    kept = [line for line in lines if '"2x1"' not in line and '"end"' not in line]
    journal.write_text("".join(kept))
    assert call("run", "--resume", tmp_path / "run", "--launches", "9").code == 2
    ended = call("run", "--resume", tmp_path / "run")
    assert ended.code == 0, ended.err
    assert {point["placement"] for point in points_of(tmp_path / "run")} == {"1x2", "2x1"}


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--hosts", "a,b"], "--hosts does not go with --machine"),
        (["--launches", "3"], "launches in virtual time are equal"),
        (["--transport", "threads"], "transport threads does not send by an MPI library"),
        (["--ranks", "1000"], "altix-bx2 holds 512 ranks, not 1000"),
        (["--placement", "1x3"], "ranks per node of altix-bx2: at most 2, not 3"),
        (["--noise", "2000%"], "--noise 2000% --seed 1 is too much"),
        (["--noise", "nan%"], "'nan%' is not a share"),
        (["--computing", "measured:0"], "is not a way to count computing"),
    ],
)
def test_what_a_virtual_run_cannot_do(call: Call, words: list[str], message: str) -> None:
    ended = call("run", "--pattern", "pingpong", "--machine", "altix-bx2", *words)
    assert ended.code == 2
    assert message in ended.err


@pytest.mark.sampled(3)
@pytest.mark.parametrize("verb", ["run", "tune"])
@pytest.mark.parametrize("option", ["--noise=10%", "--computing=power2"])
def test_real_hosts_have_a_noise_of_their_own(call: Call, verb: str, option: str) -> None:
    ended = call(verb, option)
    assert ended.code == 2
    assert f"{option.partition('=')[0]} goes with --machine" in ended.err


def test_a_library_that_bypasses_the_network_is_given_up_at_once() -> None:
    library = library_of("mpich")
    machine = VirtualMachine(Messages(catalogue.machine("altix-bx2")), 2)
    command = library_subject(library).command
    begin = start_virtually(library, command, 2, libraries(), {"MPIR_CVAR_NOLOCAL": "0"})
    ranks = VirtualRanks(machine.wires(2, "2x1"), 2, library, VirtualProgress(print))
    start = functools.partial(VirtualProbe, ranks, begin.command, begin.environment)
    words = r"bypasses the virtual network: MPI_.* took no time"
    with pytest.raises(LaunchError, match=words) as failure:
        start(patience_s(60.0), Examiner())
    assert failure.value.is_final
