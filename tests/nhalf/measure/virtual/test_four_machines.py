"""One thing on every machine that is not a cluster: the model, SimGrid, the virtual network, a lab.

On one machine file all agree where their algorithm is the same, and differ where it is not.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import virtual_network
from nhalf.machines import catalogue
from nhalf.store.run import Run
from tests.nhalf.measure.virtual.programs import library_of

Call = Callable[..., Any]
Cell = tuple[str, int]
EVEN = """
schema = 1
name = "even"
[node]
ranks = 1
[[models]]
pattern = "pingpong"
transport = "mpi"
ranks = 2
placement = "other-node"
segments = [{from_bytes = 0, to_bytes = 4194304, t0_s = 8e-6, r_inf_Bps = 1e9}]
[[loggp]]
transport = "mpi"
placement = "other-node"
latency_s = 5e-6
send_overhead_s = 1e-6
recv_overhead_s = 2e-6
gap_s = 4e-6
"""
MODEL = "o_s=1e-6,o_r=2e-6,L=5e-6,g=4e-6,G=1e-9"
"""The parameters of that file."""
CELLS: list[Cell] = [("pingpong", 1024), ("bcast", 1024), ("allreduce", 8), ("allreduce", 1024)]
ALGORITHMS = "native,binomial,recursive-doubling"
THREE_STEPS_S = {0: 24e-6, 8: 24.024e-6, 1024: 27.072e-6}
"""Three messages one after the other, 8 µs and 1 ns a byte each."""
ROUNDING = 0.004
"""SimGrid counts the first byte, and 80 bytes of a library's own."""
MIB = 1 << 20
SAME = 0.25
"""How far apart times of 1 MiB on two nodes may be. Found: 0.04."""


@pytest.fixture
def even(tmp_path: Path) -> Path:
    """A machine whose file and LogP parameters say the same."""
    path = tmp_path / "even.toml"
    path.write_text(EVEN)
    return path


def measured_s(call: Call, folder: Path, *words: str) -> dict[Cell, float]:
    """The times of a run on 8 ranks, the shortest where several algorithms were asked for."""
    operations = ("--pattern", "pingpong,bcast,allreduce", "--bytes", "8,1K", "--ranks", "8")
    ended = call(*words, *operations, "--quiet", "--out", folder)
    assert ended.code == 0, ended.err
    times: dict[Cell, float] = {}
    for event in Run.open(folder).whole_events():
        if event["event"] == "point":
            cell = (event["pattern"], event["bytes"])
            times[cell] = min(times.get(cell, 1.0), event["samples_s"][0])
    return times


@pytest.mark.full
@pytest.mark.slow
def test_three_machines_agree(call: Call, even: Path, simulator: None, tmp_path: Path) -> None:
    model = ("run", "--transport", "model", "--model", MODEL, "--algorithm", ALGORITHMS)
    by_model = measured_s(call, tmp_path / "model", *model, "--launches", "1")
    simulated = measured_s(
        call, tmp_path / "simulated", "predict", "--engine", "simgrid", "--machine", str(even)
    )
    mpi = ("--mpi", library_of("mpich").name)
    on_file = ("run", "--machine", str(even), "--placement", "8x1", *mpi)
    virtual = measured_s(call, tmp_path / "virtual", *on_file)
    for machine in (by_model, simulated, virtual):
        assert machine["pingpong", 1024] == pytest.approx(9.024e-6, rel=ROUNDING)
        for name, size in (("bcast", 1024), ("allreduce", 8)):
            assert machine[name, size] == pytest.approx(THREE_STEPS_S[size], rel=ROUNDING)
    for machine in (by_model, simulated):
        assert machine["allreduce", 1024] == pytest.approx(THREE_STEPS_S[1024], rel=ROUNDING)
    # MPICH's own choice scatters the sums and gathers them again: twice the steps, fewer bytes.
    # They are of 512, 256 and 128 bytes, there and back.
    assert virtual["allreduce", 1024] == pytest.approx(48e-6 + 2 * 0.896e-6, rel=ROUNDING)


@pytest.fixture
def lab() -> Iterator[str]:
    """Two nodes with a link of 1 Gbit/s, whose ranks other programs do not disturb."""
    if os.geteuid() != 0 or shutil.which("chrt") is None:
        pytest.skip("a lab needs the superuser, and its ranks chrt")
    name = f"four{os.getpid()}"
    up = ("lab", "up", "--nodes", "2", "--rate", "1gbit", "--name", name, "--no-install")
    try:
        virtual_network.nhalf(*up, under=("chrt", "-r", "1"))
        yield name
    finally:
        virtual_network.nhalf("lab", "down", "--name", name)


@pytest.mark.full
def test_a_broadcast_in_a_lab_and_on_its_machine_file(
    call: Call, lab: str, simulator: None, tmp_path: Path
) -> None:
    library = library_of("mpich")
    machine = virtual_network.fitted(lab, tmp_path, library)
    both = virtual_network.Both(lab, library, machine, virtual_network.compiled(library, tmp_path))
    command = [str(both.program), "5", f"bcast:{MIB}"]
    times = virtual_network.operation_times
    in_lab_s = times([both.in_lab(2, command)])["bcast", MIB]
    virtual_s = times([both.in_virtual_time(2, 0, command, "")])["bcast", MIB]
    last = catalogue.machine(str(machine)).models[0].segments[-1]
    rate = f"L={last.t0_s},G={1 / last.r_inf_Bps},o_s=1e-9,o_r=1e-9,g=1e-9"
    asked = ("--pattern", "bcast", "--ranks", "2", "--bytes", "1M", "--quiet", "--out")
    model = ("run", "--transport", "model", "--model", rate, "--launches", "1")
    for name, words in (
        ("model", model),
        ("simulated", ("predict", "--engine", "simgrid", "--machine", str(machine))),
    ):
        ended = call(*words, *asked, tmp_path / name)
        assert ended.code == 0, ended.err
    samples = (Run.open(tmp_path / name).whole_events() for name in ("model", "simulated"))
    others_s = [
        event["samples_s"][0] for run in samples for event in run if event["event"] == "point"
    ]
    assert len(others_s) == 2
    for time_s in (virtual_s, *others_s):
        assert time_s == pytest.approx(in_lab_s, rel=SAME)
