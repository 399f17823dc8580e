"""Libraries that do not take buffers in GPU memory are found out before anything is measured."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from nhalf.base.processes import run
from nhalf.measure.loop.device_trial import DeviceTrial
from nhalf.measure.loop.retry import Starting
from nhalf.measure.plan.plan import Block, Start
from nhalf.measure.probe.subject import Subject
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries, newest
from nhalf.mpi.probe import compiler_variables
from nhalf.sites.site import HERE
from tests.nhalf.measure.loop.fakes import Fake, Go, starts
from tests.patience import duration, patience_s
from tests.probes import is_built
from tests.stand_in_gpu import gpu_stand_in

NATIVE = Path(__file__).parents[3] / "native"
UCX_TABLE = Path(__file__).parents[3] / "data/ucx_proto_info.txt"
HYDRA = [one for one in newest(libraries()) if one.vendor == "mpich" and one.abi]
MEMORY = {"name": "memory", "values": "host", "fallback": "host", "what": ""}
BLOCK = Block(["pingpong", "bcast"], [2], "1,8", axes={"memory": "host,device"})
PUTS = "rma-put,rma-get,rma-put-all,rma-get-all"
SUMS = "rma-accumulate,rma-get-accumulate,rma-fetch-and-op,rma-compare-and-swap"
CREATED = ("--axis", "window=create")
Call = Callable[..., Any]


def with_memory(subject: Subject) -> Subject:
    """The subject with two patterns that have the axis."""
    patterns = [{"name": name, "axes": [MEMORY]} for name in ("pingpong", "bcast")]
    return replace(subject, description={**subject.description, "patterns": patterns})


def failed_patterns(events: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    failed = [event for event in events if event["event"] == "failed"]
    return {(event["pattern"], event["axes"]): event["reason"] for event in failed}


def measured_patterns(events: list[dict[str, Any]]) -> set[tuple[str, str]]:
    points = [event for event in events if event["event"] == "point"]
    return {(event["pattern"], event["axes"]) for event in points}


def test_a_library_that_dies_of_it_is_tried_once(fake: Fake, go: Go, tmp_path: Path) -> None:
    says_no = "say = lambda **record: print(json.dumps(record | {'gpu_support': 'no'}), flush=True)"
    subject = with_memory(fake(before=says_no, each="'device' in line and os._exit(11)"))
    failed, events = go(subject, blocks=[BLOCK])
    assert failed == {}
    reasons = failed_patterns(events)
    assert set(reasons) == {("pingpong", "memory=device"), ("bcast", "memory=device")}
    assert all("does not take buffers in GPU memory" in reason for reason in reasons.values())
    assert all("MPIX_Query_cuda_support says no" in reason for reason in reasons.values())
    assert measured_patterns(events) == {("pingpong", ""), ("bcast", "")}
    assert starts(tmp_path) == 3


def test_a_pattern_alone_may_be_what_a_library_cannot(fake: Fake, go: Go) -> None:
    each = "'device' in line and asked['pattern'] == 'bcast' and os._exit(11)"
    _, events = go(with_memory(fake(each=each)), blocks=[BLOCK])
    assert set(failed_patterns(events)) == {("bcast", "memory=device")}
    assert ("pingpong", "memory=device") in measured_patterns(events)


def test_windows_are_tried_each_by_its_kind(fake: Fake, go: Go, tmp_path: Path) -> None:
    window = {"name": "window", "values": "allocate", "fallback": "allocate", "what": ""}
    patterns = [{"name": name, "axes": [MEMORY, window]} for name in ("rma-put", "rma-get")]
    subject = fake(each="'device' in line and 'create' in line and os._exit(11)")
    subject = replace(subject, description={**subject.description, "patterns": patterns})
    kinds = {"memory": "device", "window": "allocate,create"}
    block = Block(["rma-put", "rma-get"], [2], "1,8", axes=kinds)
    _, events = go(subject, blocks=[block])
    created = "memory=device,window=create"
    assert set(failed_patterns(events)) == {("rma-put", created), ("rma-get", created)}
    assert measured_patterns(events) == {("rma-put", "memory=device"), ("rma-get", "memory=device")}
    assert (
        starts(tmp_path) == 4
    )  # two of them are the trial: a window of the first pattern ends one


def test_what_the_probe_refuses_is_told_in_its_words(fake: Fake, go: Go) -> None:
    refusal = "(say(nhalf='error', id=asked['id'], message='no GPU driver'), asked.clear())"
    each = f"if 'device' in line: {refusal}; continue"
    _, events = go(with_memory(fake(each=each)), blocks=[BLOCK])
    assert set(failed_patterns(events).values()) == {"no GPU driver"}


def test_paths_that_ucx_prints_in_the_trial_are_kept_once(fake: Fake, go: Go) -> None:
    each = f"'device' in line and print(open({str(UCX_TABLE)!r}).read(), flush=True)"
    _, events = go(with_memory(fake(each=each)), blocks=[BLOCK])
    (kept,) = [event for event in events if event["event"] == "gpu-paths"]
    assert kept["subject"] == "fake"
    assert [path["low_bytes"] for path in kept["paths"]] == [0, 1, 8185, 524289]
    assert kept["paths"][-1]["lanes"] == "cuda_ipc/cuda"
    assert ("pingpong", "memory=device") in measured_patterns(events)


def test_a_library_tells_its_paths_in_the_trial_alone(fake: Fake, tmp_path: Path) -> None:
    words = ("mpich-5", "mpich", "5", tmp_path, None, "hydra", True, None, "path")
    library = Library(*words, environment={"A": "1"})
    subject = replace(fake(), library=library, measures_library=True)
    starting = Starting(cast("Any", None), {subject.key: subject}, cast("Any", None), HERE)
    trial = DeviceTrial(cast("Any", None), starting, cast("Any", None))
    telling = trial.telling(Start(subject.key, 2, "cores")).subjects[subject.key].library
    assert telling is not None
    assert telling.environment == {"A": "1", "UCX_PROTO_INFO": "y"}
    assert starting.subjects[subject.key].library == library


def test_processes_that_do_not_start_are_no_answer(fake: Fake, go: Go) -> None:
    failed, events = go(with_memory(fake(before="sys.exit('no slots')")), blocks=[BLOCK])
    assert "no slots" in failed["fake"]
    assert failed_patterns(events) == {}


def test_without_such_points_nothing_is_tried(fake: Fake, go: Go, tmp_path: Path) -> None:
    block = Block(["pingpong"], [2], "1,8", axes={"memory": "host,pinned"})
    _, events = go(with_memory(fake(each="'device' in line and os._exit(11)")), blocks=[block])
    assert failed_patterns(events) == {}
    assert starts(tmp_path) == 2


@pytest.fixture
def stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    """A driver for hosts without a GPU, whose device memory the host cannot read."""
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", str(gpu_stand_in()))


@pytest.fixture
def aware(stand_in: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a library that takes buffers of the stand-in."""
    real = HYDRA[0]
    preloaded, prefix = tmp_path / "aware.so", tmp_path / "aware"
    compiler = [str(real.prefix / "bin/mpicxx_abi"), "-std=c++20", "-O1", "-shared", "-fPIC"]
    words = [*compiler, str(NATIVE / "apps/gpu_aware.cpp"), "-o", str(preloaded)]
    outcome = run(words, patience_s(120), {**real.environment, **compiler_variables(real)})
    assert outcome.succeeded, outcome.stderr
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib").symlink_to(real.prefix / "lib")
    starter = prefix / "bin" / "mpiexec"
    starter.write_text(
        f'#!/bin/sh\ncase "$*" in *probe-*) export LD_PRELOAD={preloaded};; esac\n'
        f'exec {real.mpiexec} "$@"\n'
    )
    starter.chmod(0o755)
    before = os.environ.get("NHALF_MPI_PREFIXES", "")
    monkeypatch.setenv("NHALF_MPI_PREFIXES", f"{before}:{prefix}".strip(":"))
    return next(one.name for one in libraries() if one.mpiexec == starter)


def words_for(library: str, folder: Path, memory: str = "host-device") -> tuple[Any, ...]:
    axes = ("--axis", f"memory={memory}", "--bytes", "8,5000", "--launches", "1")
    asked = ("--pattern", "pingpong,allreduce", *axes, "--mpi", library)
    return ("run", *asked, "--budget", duration(3), "--out", folder)


@pytest.mark.usefixtures("stand_in")
@pytest.mark.parametrize("library", HYDRA[:1], ids=lambda library: library.name)
@pytest.mark.slow
@pytest.mark.skipif(not is_built("probe-mpi-abi"), reason="the probes are not built")
def test_a_library_of_the_host_is_told_apart(call: Call, tmp_path: Path, library: Any) -> None:
    outcome = call(*words_for(library.name, tmp_path / "run"))
    assert outcome.code == 3, outcome.err
    assert "the library does not take buffers in GPU memory" in outcome.err
    assert "Traceback" not in outcome.err


@pytest.mark.slow
@pytest.mark.skipif(not HYDRA, reason="no MPICH here: nhalf mpi install mpich")
@pytest.mark.skipif(not is_built("probe-mpi-abi"), reason="the probes are not built")
def test_buffers_of_a_gpu_are_measured(
    call: Call, aware: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder, management = tmp_path / "run", tmp_path / "libnvidia-ml.so.1"
    source = NATIVE / "host/nvml_stand_in.c"
    subprocess.run(["cc", "-shared", "-fPIC", str(source), "-o", str(management)], check=True)
    monkeypatch.setenv("NHALF_NVML_LIBRARY", str(management))
    monkeypatch.setenv("NHALF_STAND_IN_PROCESSES", "2")
    outcome = call(*words_for(aware, folder, "device-host"))
    assert outcome.code == 0, outcome.err
    points = json.loads(call("show", folder, "--json").out)["points"]
    assert {point["pattern"] for point in points} == {"pingpong", "allreduce"}
    assert all(point["axes"] == {"memory": "device-host"} for point in points)
    assert all(point["verified"] for point in points)
    assert all(point["values"]["gpu_clock_before_hz"] == pytest.approx(1e9) for point in points)
    # One rank has a buffer there, and the other process is none of this run.
    assert all("busy-gpu" in point["advice"] for point in points)
    for point in points:
        assert {"gpu_left_s", "gpu_synchronise_s"} <= set(point["values"])
    lines = (folder / "journal.jsonl").read_text().splitlines()
    gpus = [event["gpus"] for event in map(json.loads, lines) if event["event"] == "gpus"]
    assert gpus == [["0000:a0:00.0", ""]]


@pytest.mark.full
@pytest.mark.skipif(not HYDRA, reason="no MPICH here: nhalf mpi install mpich")
@pytest.mark.skipif(not is_built("probe-mpi-abi"), reason="the probes are not built")
@pytest.mark.parametrize(
    ("memory", "words"),
    [
        ("device", ("--pattern", "ring", "--axis", "ring=6", "--axis", "method=nonblocking")),
        ("device-host", ("--pattern", "ring", "--axis", "ring=6", "--axis", "method=nonblocking")),
        (
            "device",
            ("--pattern", "pingpong-threads,bibw-threads", "--axis", "threads=2", "--axis",
             "communicators=one", "--setting", "several: mpi.threads=1"),
        ),
        (
            "device-host",
            ("--pattern", "rma-fetch-and-op,rma-compare-and-swap", "--transport", "rma"),
        ),
        ("device", ("--pattern", PUTS, "--transport", "rma", *CREATED)),
        ("host-device", ("--pattern", SUMS, "--transport", "rma", *CREATED)),
    ],
)  # fmt: skip
def test_rings_threads_and_numbers_of_a_gpu_are_measured(
    call: Call, aware: str, tmp_path: Path, memory: str, words: tuple[str, ...]
) -> None:
    folder = tmp_path / "run"
    sizes = () if words[1].startswith("rma-fetch") else ("--bytes", "4,5000")
    few = (*sizes, "--ranks", "2", "--launches", "1", "--budget", duration(6), "--mpi", aware)
    outcome = call("run", *words, "--axis", f"memory={memory}", *few, "--out", folder)
    assert outcome.code == 0, outcome.err
    points = json.loads(call("show", folder, "--json").out)["points"]
    assert {point["pattern"] for point in points} == set(words[1].split(","))
    assert all(point["axes"]["memory"] == memory for point in points)
    assert all(point["verified"] for point in points)


@pytest.mark.full
@pytest.mark.skipif(not HYDRA, reason="no MPICH here: nhalf mpi install mpich")
@pytest.mark.skipif(not is_built("probe-mpi-abi"), reason="the probes are not built")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("wrong-data", "moves wrong data between buffers in GPU memory"),
        ("no-device", "the driver finds no GPU"),
        ("old-driver", "CUDA 11.0 or newer is needed"),
        ("busy", "another context"),
        ("foreign-context", "another context"),
        ("out-of-memory", "the GPU has not enough free memory"),
        ("without-launch", "has no cuLaunchKernel"),
    ],
)
def test_what_is_wrong_with_a_gpu_is_told(
    call: Call, aware: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fault: str, words: str
) -> None:
    monkeypatch.setenv("NHALF_STAND_IN_FAULT", fault)
    if fault == "without-launch":
        monkeypatch.setenv("NHALF_CUDA_LIBRARY", str(gpu_stand_in(without="launch")))
    outcome = call(*words_for(aware, tmp_path / "run"))
    assert outcome.code == 3, outcome.err
    assert words in outcome.err
    assert outcome.err.count("\n") == 1


@pytest.mark.slow
@pytest.mark.skipif(not HYDRA, reason="no MPICH here: nhalf mpi install mpich")
@pytest.mark.skipif(not is_built("probe-rma-abi"), reason="the probes are not built")
def test_a_library_without_windows_of_a_gpu_is_told_apart(
    call: Call, aware: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("NHALF_STAND_IN_FAULT", "host-windows")
    folder = tmp_path / "run"
    windows = ("--axis", "memory=device", "--axis", "window=allocate,create")
    asked = ("--transport", "rma", "--pattern", "rma-put", "--bytes", "8,5000", *windows)
    few = ("--launches", "1", "--budget", duration(6), "--mpi", aware, "--out", folder)
    outcome = call("run", *asked, *few)
    assert outcome.code == 0, outcome.err
    events = [json.loads(line) for line in (folder / "journal.jsonl").read_text().splitlines()]
    ((point, reason),) = failed_patterns(events).items()
    assert point == ("rma-put", "memory=device,window=create")
    assert "the library does not take buffers in GPU memory" in reason
    points = json.loads(call("show", folder, "--json").out)["points"]
    assert {point["axes"].get("window", "") for point in points} == {""}
    assert len(points) == 2
    assert all(point["verified"] for point in points)


@pytest.mark.slow
@pytest.mark.skipif(not HYDRA, reason="no MPICH here: nhalf mpi install mpich")
@pytest.mark.skipif(not is_built("probe-mpi-abi"), reason="the probes are not built")
def test_a_run_in_memory_of_the_host_loads_no_driver(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark, library = tmp_path / "loaded", tmp_path / "libcuda.so.1"
    source = (
        "#include <fcntl.h>\n__attribute__((constructor)) static void loaded(void) "
        f'{{ open("{mark}", O_CREAT, 0600); }}\n'
    )
    words = ["c++", "-x", "c++", "-shared", "-fPIC", "-", "-o", str(library)]
    subprocess.run(words, input=source, text=True, check=True)
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", str(library))
    few = ("--pattern", "pingpong", "--bytes", "8", "--launches", "1", "--mpi", HYDRA[0].name)
    run = ("run", *few, "--budget", duration(4), "--out")
    assert call("--help").code == 0
    assert call(*run, tmp_path / "host").code == 0
    assert not mark.exists()
    call(*run, tmp_path / "pinned", "--axis", "memory=pinned").is_error(3, "has no cuInit")
    assert mark.exists()
