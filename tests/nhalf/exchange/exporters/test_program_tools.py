"""A traced program for SimGrid, TALP-Pages and Hatchet, tried with these where they are."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import ExportOptions
from nhalf.exchange.exporters.hatchet import Hatchet
from nhalf.exchange.exporters.simgrid import SimGrid
from nhalf.exchange.exporters.talp import Talp
from nhalf.exchange.exporters.tit import Tit
from nhalf.facts.program.program import Program
from tests.nhalf.decide.program.known_programs import (
    call,
    machine,
    ping_pong,
    replayed_s,
    with_counts,
)
from tests.nhalf.traced_programs import program, stored
from tests.patience import patience_s
from tests.server import Ended

HOSTS = ("one", "one", "two", "two")


def ring(size_bytes: int = 1000, rounds: int = 5) -> Program:
    """Ranks that compute for 10 ms, or 20 on the last one, and pass messages on, two on a node."""
    rows = []
    for number in range(rounds):
        for rank in range(4):
            begin_s = 0.1 * number + (0.02 if rank == 3 else 0.01)
            left, right = (rank - 1) % 4, (rank + 1) % 4
            ends = {"tag": 1, "size_bytes": size_bytes}
            rows += [
                call("MPI_Irecv", "received", rank, left, (begin_s, 0.1 * number + 0.1), **ends),
                call("MPI_Isend", "sent", rank, right, (begin_s, begin_s), **ends),
                call("MPI_Waitall", "waiting", rank, -2, (begin_s, 0.1 * number + 0.1)),
            ]
    made = with_counts(rows, 4, 0.1 * rounds)
    for record, host in zip(made.trace.ranks, HOSTS, strict=True):
        record.host = host
    return made


def simulated_s(folder: Path, made: Program) -> float:
    """The time of SimGrid's own replay on the known machine, a rank on each node."""
    folder.mkdir()
    Tit().write(made, folder / "actions")
    platform, hosts = folder / "platform.xml", folder / "hosts"
    platform.write_text(SimGrid(ExportOptions(ranks=made.ranks)).text(machine()))
    hosts.write_text("".join(f"node-{rank}\n" for rank in range(made.ranks)))
    where = ["-np", str(made.ranks), "-platform", platform, "-hostfile", hosts]
    command = ["smpirun", "-no-privatize", *where, "-replay", folder / "actions" / "index.txt"]
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, check=True, timeout=patience_s(60)
    )
    time = re.search(r"Simulation time (\S+)", done.stdout + done.stderr)
    assert time is not None, done.stderr
    return float(time[1])


@pytest.mark.skipif(shutil.which("smpirun") is None, reason="needs SimGrid")
@pytest.mark.parametrize("size_bytes", [8, 1000, 30000])
def test_simgrid_replays_as_long(tmp_path: Path, size_bytes: int) -> None:
    """Of two lengths, since SimGrid's time includes a barrier at the end."""
    short, long = (ping_pong(rounds, size_bytes, 0.01) for rounds in (2, 6))
    more_s = replayed_s(long, machine(), "2x1") - replayed_s(short, machine(), "2x1")
    times_s = [simulated_s(tmp_path / name, made) for name, made in (("a", long), ("b", short))]
    assert times_s[0] - times_s[1] == pytest.approx(more_s, rel=1e-3)


def test_a_time_independent_trace_has_both_ends_of_every_message(tmp_path: Path) -> None:
    Tit().write(ring(rounds=2), tmp_path / "actions")
    index = (tmp_path / "actions" / "index.txt").read_text().split()
    texts = [Path(name).read_text() for name in index]
    assert [text.splitlines()[0] for text in texts] == [f"{rank} init" for rank in range(4)]
    assert all(text.splitlines()[-2].endswith(" barrier") for text in texts)
    ends: dict[str, set[tuple[str, ...]]] = {"isend": set(), "irecv": set()}
    for rank, text in enumerate(texts):
        for name, partner, tag, size in re.findall(r"(isend|irecv) (\d+) (\d+) (\d+) 6", text):
            pair = (str(rank), partner) if name == "isend" else (partner, str(rank))
            ends[name].add((*pair, tag, size))
    assert ends["isend"] == ends["irecv"]
    assert len(ends["isend"]) == 8
    with pytest.raises(InputError, match="not empty"):
        Tit().write(ring(), tmp_path / "actions")


def test_talp_has_the_efficiencies(tmp_path: Path) -> None:
    said = json.loads(Talp().text(ring()))
    whole = said["Application"]["Global"]
    assert said["resources"] == {"numCpus": 4, "numMpiRanks": 4}
    assert whole["elapsedTime"] == 500_000_000
    # 10 ms of each 100 ms on three ranks, 20 on the last: 12.5 in the mean, 15 on its node.
    assert whole["usefulTime"] == pytest.approx(4 * 62_500_000, abs=4)
    assert whole["mpiLoadBalance"] == pytest.approx(12.5 / 20)
    assert whole["mpiLoadBalanceIn"] == pytest.approx(15 / 20)
    assert whole["mpiLoadBalanceOut"] == pytest.approx(12.5 / 15)
    assert whole["mpiCommunicationEfficiency"] == pytest.approx(0.2)
    assert whole["parallelEfficiency"] == pytest.approx(0.125)
    assert said["dlbVersion"].startswith("3.5")


def test_hatchet_has_a_row_for_each_rank_and_node() -> None:
    said = json.loads(Hatchet().text(ring()))
    labels = [node["label"] for node in said["nodes"]]
    assert labels == [
        "mpiexec -n 4 ./program",
        *("MPI_Irecv", "MPI_Irecv 1000 B", "MPI_Isend", "MPI_Isend 1000 B"),
        *("MPI_Waitall", "MPI_Waitall 0 B"),
    ]
    assert [node.get("parent") for node in said["nodes"]] == [None, 0, 1, 0, 3, 0, 5]
    columns = said["columns"]
    assert len(columns) == len(said["column_metadata"]) == len(said["data"][0])
    rows = [dict(zip(columns, row, strict=True)) for row in said["data"]]
    assert [(row["mpi.rank"], row["path"]) for row in rows] == [
        (rank, node) for rank in range(4) for node in range(7)
    ]
    last = {row["path"]: row for row in rows if row["mpi.rank"] == 3}
    assert last[0]["sum#time.duration"] == pytest.approx(0.1)
    assert last[2]["sum#count"] == 5
    assert last[2]["sum#bytes"] == 5000


def test_what_they_need_is_named(tmp_path: Path, call: Callable[..., Ended]) -> None:
    folder = stored(program(2), tmp_path / "run")
    call("export", folder, "--to", "tit").is_error(2, "name it with --out")
    call("export", folder, "--to", "tit", "--out", tmp_path / "t").is_error(2, "order of the calls")
    assert not (tmp_path / "t").exists()
    call("export", folder, "--to", "hatchet").is_error(2, "holds no calls")
    call("export", "altix-bx2", "--to", "talp").is_error(2, "needs a traced program")


@pytest.mark.full
def test_hatchet_reads_it(tmp_path: Path) -> None:
    hatchet: Any = pytest.importorskip("hatchet", reason="llnl-hatchet is not installed")
    path = tmp_path / "calls.json"
    path.write_text(Hatchet().text(ring()))
    frame = hatchet.GraphFrame.from_caliper(str(path)).dataframe
    assert set(frame.columns) >= {"time", "time (inc)", "sum#count", "name"}
    own = frame[frame["name"] == "mpiexec -n 4 ./program"]["time"]
    assert sorted(own) == pytest.approx([0.05, 0.05, 0.05, 0.1])


@pytest.mark.full
@pytest.mark.skipif(shutil.which("talp") is None, reason="talp-pages is not installed")
def test_talp_pages_makes_a_report(tmp_path: Path) -> None:
    (tmp_path / "runs" / "ring").mkdir(parents=True)
    (tmp_path / "runs" / "ring" / "run.json").write_text(Talp().text(ring()))
    command = ["talp", "ci-report", "-i", "runs", "-o", "pages", "--no-badge"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=patience_s(120))
    assert "Load balance" in (tmp_path / "pages" / "ring" / "scaling.html").read_text()
