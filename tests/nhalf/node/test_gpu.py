"""A GPU whose times are known: the driver of the tests has its own clock."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from nhalf.exchange.logs.imported_run import write_run
from nhalf.exchange.logs.log import LogFile, read_file
from nhalf.facts.facts import Facts
from nhalf.machines.machine_file import read
from nhalf.measure.probe.process import Probe
from nhalf.node.gpu import gpu_subject
from nhalf.present.panels import Table
from nhalf.present.panels.node import GpuCosts
from nhalf.results.gpu import Gpu
from nhalf.store.record import event, named_values
from nhalf.store.run import Run
from tests.nhalf.cli.in_process import call_here
from tests.nhalf.facts.test_node import record
from tests.patience import patience_s
from tests.schemas import check_schema
from tests.server import Ended

ROOT = Path(__file__).resolve().parents[3]
COMPILER = shutil.which("g++") or shutil.which("c++")
LAUNCH_S, COPY_S, FLAG_S, RATE_BPS, CLOCK_HZ = 4e-6, 3e-6, 1.5e-6, 2e10, 1.5e9
CALL_S, WAIT_S, NODE_S, GRAPH_S = 1e-6, 5e-7, 1.25e-6, 2e-5
START_S = CALL_S + COPY_S + WAIT_S
N_HALF_BYTES = START_S * RATE_BPS


@pytest.fixture(scope="session")
def stand_in(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The driver of the tests."""
    return built(tmp_path_factory.mktemp("driver") / "libcuda-stand-in.so", "-O1")


def built(library: Path, *options: str) -> Path:
    """The driver of the tests, compiled with options."""
    if COMPILER is None:
        pytest.skip("no compiler of C++")
    source = ROOT / "tests/native/host/gpu_stand_in.cpp"
    words = [COMPILER, "-std=c++20", "-fPIC", "-shared", "-pthread", *options]
    subprocess.run([*words, "-o", library, source], check=True)
    return library


@pytest.fixture
def gpu(stand_in: Path, monkeypatch: pytest.MonkeyPatch) -> pytest.MonkeyPatch:
    """A machine with the GPU of the tests; the patch plants faults."""
    times = {
        "LAUNCH_S": LAUNCH_S, "COPY_S": COPY_S, "FLAG_S": FLAG_S, "BYTES_PER_S": RATE_BPS,
        "CLOCK_HZ": CLOCK_HZ, "CALL_S": CALL_S, "WAIT_S": WAIT_S, "NODE_S": NODE_S,
        "GRAPH_S": GRAPH_S,
    }  # fmt: skip
    for name, value in times.items():
        monkeypatch.setenv(f"NHALF_STAND_IN_{name}", str(value))
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", str(stand_in))
    monkeypatch.setenv("NHALF_NVML_LIBRARY", "/nowhere/libnvidia-ml.so.1")
    return monkeypatch


def node(folder: Path, *words: str) -> Ended:
    return call_here("node", "--gpu", "--bytes", "8,4K,64K,256K", *words, folder=folder)


def costs_of(said: dict[str, Any]) -> dict[str, dict[str, Any]]:
    return {row["what"]: row for row in said["costs"]}


def test_known_times_are_measured_exactly(gpu: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gpu.setattr("nhalf.node.gpu.LAUNCHES", 2)
    ended = node(tmp_path, "--json", "--out", "gpu", "--report")
    assert (ended.code, ended.err) == (0, "")
    check_schema(ended.out)
    said = json.loads(ended.out)
    assert (said["gpu"]["gpu"], said["gpu"]["gpu_driver"]) == ("stand-in", "CUDA driver 13.0")
    costs = costs_of(said)
    three = ("host_returns_s", "device_s", "time_s")
    for what, calls, on_device_s in (
        ("a launch", 1, LAUNCH_S),
        ("a launch, waiting by block", 1, LAUNCH_S),
        ("16 launches, as one graph", 1, 16 * NODE_S),
    ):
        ends_s = [calls * CALL_S, calls * CALL_S + on_device_s, CALL_S + on_device_s + WAIT_S]
        assert [costs[what][name] for name in three] == pytest.approx(ends_s)
    assert costs["16 launches"]["host_returns_s"] == pytest.approx(16 * CALL_S)
    assert costs["16 launches"]["time_s"] == pytest.approx(CALL_S + 16 * LAUNCH_S + WAIT_S)
    assert costs["16 launches, as one graph"]["instantiated_s"] == pytest.approx(GRAPH_S)
    for what in ("a wait for an empty stream", "a query whether a stream is empty"):
        assert costs[what]["time_s"] == pytest.approx(WAIT_S)
        assert costs[what]["host_returns_s"] is None
    assert costs["a flag to the GPU and back"]["time_s"] == pytest.approx(FLAG_S)
    for memories in (
        *("from pinned host memory to the GPU", "from the GPU to pinned host memory"),
        *("from pageable host memory to the GPU", "within the GPU's memory"),
        "from managed memory to the GPU",
    ):
        copy = costs[f"a copy {memories}"]
        done_s = CALL_S + COPY_S + 8 / RATE_BPS
        assert [copy[name] for name in three] == pytest.approx([CALL_S, done_s, done_s + WAIT_S])
        assert copy["rate_Bps"] == pytest.approx((256 << 10) / (START_S + (256 << 10) / RATE_BPS))
        assert copy["n_half_bytes"] == pytest.approx(N_HALF_BYTES, rel=1e-3)
        assert copy["switches"] is None
    # The others have the device's time for themselves: half of the copies are in this one's.
    pair = costs["a message between two processes on this GPU, in time slices: no network"]
    assert pair["time_s"] == pytest.approx((START_S + 8 / RATE_BPS) / 2)
    several = "messages from one process to 3 others at once on this GPU, in time slices: "
    assert costs[f"{several}no network"]["time_s"] == pytest.approx(3 * pair["time_s"])
    assert costs[f"{several}no network"]["rate_Bps"] == pytest.approx(pair["rate_Bps"])
    assert not any(row["doubts"] or row.get("falls") for row in said["costs"])
    run = Run.open(tmp_path / "gpu")
    assert set(run.measurements().collect()["transport"]) == {"gpu"}
    curve = next(model for model in read(run.path / "machine.toml").models if not model.axes)
    assert curve.segments[0].r_inf_Bps == pytest.approx(RATE_BPS, rel=1e-3)
    assert read(run.path / "machine.toml").environment["gpu"] == "stand-in"
    part = read(run.path / "machine.toml").gpu
    assert part is not None
    assert (part.name, part.flag_s, part.wait_s) == (
        "stand-in", pytest.approx(FLAG_S), pytest.approx(WAIT_S),
    )  # fmt: skip
    assert part.launch_s == pytest.approx(CALL_S + LAUNCH_S + WAIT_S)
    assert part.launch_returns_s == pytest.approx(CALL_S)
    memories = ["pinned-device", "device-pinned", "host-device", "device-host", "managed-device"]
    assert sorted(copy.memory for copy in part.copies) == sorted([*memories, "device"])
    assert part.copies[0].latency_s == pytest.approx(START_S + 8 / RATE_BPS)
    joined = call_here("fit", "gpu", "--node", "gpu", "--out", "joined.toml", folder=tmp_path)
    assert joined.code == 0
    assert read(tmp_path / "joined.toml").gpu == part
    assert Gpu.title in (run.path / "report.html").read_text("utf-8")


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        ("no-device", 3, ("the driver finds no GPU",)),
        ("old-driver", 3, ("for CUDA 10.2", "CUDA 11.0 or newer")),
        ("busy", 3, ("another context",)),
        ("out-of-memory", 1, ("the GPU has not enough free memory",)),
        ("foreign-context", 1, ("another context",)),
        ("wrong-data", 1, ("gpu-copy 8 B: wrong data arrived",)),
    ],
)
def test_faults_are_named_in_a_line(
    gpu: pytest.MonkeyPatch, tmp_path: Path, fault: str, code: int, words: tuple[str, ...]
) -> None:
    gpu.setenv("NHALF_STAND_IN_FAULT", fault)
    gpu.setattr("nhalf.node.gpu.LAUNCHES", 1)
    ended = call_here("node", "--gpu", "--bytes", "8", "--quiet", folder=tmp_path)
    assert "Traceback" not in ended.err
    ended.is_error(code, *words)


def test_a_machine_without_a_driver_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", str(tmp_path / "libcuda.so.1"))
    ended = node(tmp_path)
    ended.is_error(3, "no GPU driver", "NHALF_CUDA_LIBRARY")
    assert "exit code" not in ended.err
    assert not (tmp_path / "runs").exists()


def test_a_driver_without_graphs_measures_all_else(gpu: pytest.MonkeyPatch, tmp_path: Path) -> None:
    library = built(tmp_path / "libcuda-without.so", "-O0", "-DNHALF_STAND_IN_WITHOUT_GRAPHS")
    gpu.setenv("NHALF_CUDA_LIBRARY", str(library))
    with Probe([*gpu_subject().command], {}, patience_s(60)) as probe:
        probe.send("id=1 pattern=gpu-launch axis.by=graph axis.kernels=16")
        assert probe.receive(patience_s(60), identity="1")["message"] == (
            "the GPU driver has no graphs"
        )
        probe.send("id=2 pattern=gpu-launch axis.kernels=16")
        assert probe.receive(patience_s(60), identity="2")["verified"]


@pytest.fixture(scope="session")
def management(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The management library of the tests."""
    if COMPILER is None:
        pytest.skip("no compiler of C++")
    library = tmp_path_factory.mktemp("nvml") / "libnvml-stand-in.so"
    source = ROOT / "tests/native/host/nvml_stand_in.c"
    words = [COMPILER, "-x", "c", "-fPIC", "-shared", "-o", str(library), str(source)]
    subprocess.run(words, check=True)
    return library


@pytest.mark.parametrize(
    ("variables", "advice", "start"),
    [
        ({}, [], {"processes": 1, "held_back_by": [], "is_persistent": True}),
        ({"PROCESSES": "3"}, ["busy-gpu"], {"processes": 3}),
        ({"REASONS": "0x44"}, ["slow-gpu"], {"held_back_by": ["power limit", "temperature"]}),
        ({"REASONS": "0x1", "PROCESSES": "0"}, [], {"held_back_by": []}),
        ({"PERSISTENCE": "0"}, [], {"is_persistent": False}),
        ({"NVML_FAULT": "lost"}, [], {}),
    ],
)
def test_the_condition_of_a_gpu_is_with_its_points(
    gpu: pytest.MonkeyPatch,
    management: Path,
    variables: dict[str, str],
    advice: list[str],
    start: dict[str, Any],
) -> None:
    gpu.setenv("NHALF_NVML_LIBRARY", str(management))
    for name, text in variables.items():
        gpu.setenv(f"NHALF_STAND_IN_{name}", text)
    with Probe([*gpu_subject().command], {}, patience_s(60)) as probe:
        gpu = probe.launch["gpu"]
        assert {name: gpu[name] for name in start} == start
        assert ("processes" in gpu) == bool(start)
        probe.send("id=1 pattern=gpu-wait")
        assert probe.receive(patience_s(60), identity="1")["advice"] == advice


def test_mps_is_seen_by_its_pipe(gpu: pytest.MonkeyPatch, tmp_path: Path) -> None:
    gpu.setenv("CUDA_MPS_PIPE_DIRECTORY", str(tmp_path))
    for has_mps in (False, True):
        with Probe([*gpu_subject().command], {}, patience_s(60)) as probe:
            assert probe.launch["gpu"]["has_mps"] is has_mps
        (tmp_path / "control").touch()


@pytest.mark.parametrize(
    "words", [("--bytes", "8"), ("--gpu", "--lfk"), ("--gpu", "--bytes", "0,8")]
)
def test_options_that_do_not_go_together(tmp_path: Path, words: tuple[str, ...]) -> None:
    call_here("node", *words, folder=tmp_path).is_error(2, "--")


def run_of(
    folder: Path,
    times_s: dict[int, list[float]],
    clock_hz: float = 1e9,
    slow_launches: tuple[int, ...] = (),
) -> Facts:
    """A run of pinned copies with these times by size and launch, and the GPU's lowest clock."""
    run = Run.create(folder / "gpu", {"environment": {}, "titles": {"gpu": "GPU"}})
    with run.journal() as journal:
        for size, launches in times_s.items():
            for launch, time_s in enumerate(launches):
                high_hz = clock_hz / 2 if launch in slow_launches else 1e9
                low_hz = high_hz if slow_launches else clock_hz
                clock = {"gpu_clock_p10_hz": low_hz, "gpu_clock_p90_hz": high_hz}
                point = record(
                    0, "gpu-copy", size, transport="gpu", launch=launch, bytes_per_time=size,
                    samples_s=[time_s] * 5,
                    values=named_values(clock),
                )  # fmt: skip
                journal.append(event("point", "gpu", point))
    run.finish()
    return Facts.of([run])


def test_a_size_that_takes_longer_than_a_larger_one_is_told(tmp_path: Path) -> None:
    near = [0.99, 1.0, 1.01, 1.0, 1.0]
    times_s = {16 << 10: [14e-6 * x for x in near], 32 << 10: [9.8e-6 * x for x in near]}
    facts = run_of(tmp_path, {8: [9e-6 * x for x in near], **times_s})
    (row,) = facts.results["gpu"]
    (sentence,) = Gpu().sentences(row)
    assert "16 KiB takes 14 µs, longer than 32 KiB with 9.8 µs" in sentence
    table = GpuCosts().render(facts)
    assert isinstance(table, Table)
    assert table.rows[0][0] == "a copy from pinned host memory to the GPU"


def test_a_clock_that_moved_is_a_doubt(tmp_path: Path) -> None:
    (row,) = run_of(tmp_path, {8: [9e-6] * 3}, clock_hz=3.45e8).results["gpu"]
    assert row["doubts"] == [
        "gpu-copy: the GPU's clock moved between 345 and 1000 MHz: its times are those of several "
        "states"
    ]
    assert "n_half_bytes" not in row


def test_launches_at_another_clock_are_another_state(tmp_path: Path) -> None:
    times_s = {size: [9e-6, 9.1e-6, 30e-6, 9e-6, 8.9e-6] for size in (8, 64)}
    facts = run_of(tmp_path, times_s, slow_launches=(2,))
    (row,) = facts.results["gpu"]
    assert row["time_s"] == pytest.approx(9e-6, rel=0.02)
    assert row["doubts"] == [
        "the GPU's clock was 1000 MHz in 80 %, 500 MHz in 20 % of the measurements: each time is "
        "that of the clock at which most were measured"
    ]
    assert facts.summary["launches"].to_list() == [4, 4]


def test_imported_copies_are_rows_as_well(tmp_path: Path) -> None:
    path = ROOT / "tests/data/logs/nvbandwidth.json"
    log, size_bytes = read_file(path)
    run, _ = write_run([LogFile(path, size_bytes, log)], tmp_path / "nv", placement="cores")
    rows = Facts.of([run]).results["gpu"]
    assert "a copy from pinned host memory to the GPU" in [row["what"] for row in rows]
    assert "a copy from pinned host memory to the GPU, GPU 1" in [row["what"] for row in rows]


@pytest.mark.usefixtures("gpu")
def test_a_dead_partner_ends_the_point_and_not_the_probe() -> None:
    with Probe([*gpu_subject().command], {}, patience_s(60)) as probe:
        probe.send("id=1 pattern=gpu-ipc bytes=8388608 samples_min=1000000 slice_s=1000")
        partner = _partner_of(probe.launch["placement"][0]["pid"])
        os.kill(partner, signal.SIGKILL)
        answer = probe.receive(patience_s(60), identity="1")
        assert answer["message"] == "the other process of the pair has ended"
        probe.send("id=2 pattern=gpu-copy bytes=8")
        assert probe.receive(patience_s(60), identity="2")["verified"]


def _partner_of(process: int) -> int:
    children = Path(f"/proc/{process}/task/{process}/children")
    end_s = time.monotonic() + patience_s(60)
    while not (numbers := children.read_text("utf-8").split()):
        assert time.monotonic() < end_s
        time.sleep(0.01)
    return int(numbers[0])
