"""Operations of NCCL, with stand-ins for it and for the GPU's driver: no GPU is needed.

The device memory of the stand-in cannot be read by the host, and NCCL's moves data of one host.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import MissingError
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Subject, library_subject
from nhalf.mpi.discover import libraries
from nhalf.mpi.transport_files import transport_files
from nhalf.sites.placement import FREE
from tests.nhalf.measure.probe.test_transports import ENDS_WITHIN_S, killed
from tests.patience import duration, patience_s
from tests.probes import is_built
from tests.stand_in_gpu import gpu_stand_in

NATIVE = Path(__file__).parents[3] / "native"
FOUND = sorted(libraries(), key=lambda one: (one.vendor != "mpich", not one.abi))
PATTERNS = (
    *("pingpong", "exchange", "stream", "bibw", "bcast", "reduce", "allreduce", "allgather"),
    *("reduce-scatter", "alltoall", "gather", "scatter"),
)
IN_PLACE = ("reduce", "allreduce", "allgather", "gather", "scatter")
WITHOUT_GPU = {"NHALF_CUDA_LIBRARY": "host/gpu_stand_in.cpp"}
STAND_INS = {**WITHOUT_GPU, "NHALF_NCCL_LIBRARY": "transports/nccl/nccl_stand_in.cpp"}
FAULT = "NHALF_STAND_IN_NCCL_FAULT"

pytestmark = [
    pytest.mark.skipif(not FOUND, reason="no MPI library here: nhalf mpi install mpich"),
    pytest.mark.skipif(not is_built("probe-nccl-abi"), reason="the probe is not built"),
]
Call = Callable[..., Any]


@pytest.fixture(scope="module")
def compiled(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Path]:
    """The stand-ins, by the variable that names each."""
    folder = tmp_path_factory.mktemp("stand-ins")
    files = {}
    for variable, source in STAND_INS.items():
        files[variable] = folder / f"{Path(source).stem}.so"
        words = ["c++", "-std=c++20", "-O1", "-shared", "-fPIC", str(NATIVE / source), "-o"]
        subprocess.run([*words, str(files[variable])], check=True)
    return files


@pytest.fixture
def stand_ins(compiled: dict[str, Path], monkeypatch: pytest.MonkeyPatch) -> dict[str, Path]:
    for variable, file in compiled.items():
        monkeypatch.setenv(variable, str(file))
    return compiled


def subject() -> Subject:
    return library_subject(FOUND[0], transport_files()["nccl"])


def answers(
    ranks: int, questions: list[str], options: str = "", timed: bool = False
) -> list[dict[str, Any]]:
    """What the probe says of points that are verified, and not timed unless `timed`."""
    tokens, environment = subject().launch(ranks, FREE, options)
    told = []
    with Probe(tokens, environment, patience_s(30)) as probe:
        for number, question in enumerate(questions):
            effort = "slice_s=0.002 samples_max=5" if timed else "verify_only=1"
            probe.send(f"id={number} {question} {effort}")
            told.append(probe.receive(patience_s(30), identity=str(number)))
    return told


def choice_in(answer: dict[str, Any]) -> dict[str, float]:
    """The value that names what NCCL took, if the answer has one."""
    return {name: value for name, value in answer["values"].items() if name.startswith("nccl_")}


def points(patterns: tuple[str, ...], sizes: tuple[int, ...], axes: str = "") -> list[str]:
    return [f"pattern={name} bytes={size} {axes}" for name in patterns for size in sizes]


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("ranks", [pytest.param(2, marks=pytest.mark.full), 3])
def test_every_operation_moves_the_right_data(ranks: int) -> None:
    asked = points(PATTERNS, (4, 5000, 70_000))
    asked += points(IN_PLACE, (4, 5000), "axis.place=in")
    asked += points(("bcast", "reduce", "gather", "scatter"), (5000,), "axis.root=1")
    for kind in ("char", "int", "long", "double"):
        asked += points(("allreduce", "reduce-scatter"), (4800,), f"axis.type={kind} axis.op=max")
    asked += points(("reduce",), (4800,), "axis.op=min")
    found = answers(ranks, asked)
    refused = [answer["message"] for answer in found if "message" in answer]
    assert refused == []
    pairs = zip(asked, found, strict=True)
    assert [question for question, answer in pairs if not answer["verified"]] == []
    assert {tuple(answer["gpus"]) for answer in found} == {("0000:a0:00.0",) * ranks}


@pytest.mark.usefixtures("stand_ins")
def test_messages_in_windows_are_timed_one_way_and_both_ways() -> None:
    found = answers(2, points(("stream", "bibw"), (5000,)), timed=True)
    assert [answer["verified"] for answer in found] == [True, True]
    assert [answer["bytes_per_time"] for answer in found] == [5000, 10_000]
    assert all(answer["batch"] >= 16 and min(answer["samples_s"]) > 0 for answer in found)


@pytest.mark.usefixtures("stand_ins")
def test_graphs_of_operations_move_the_right_data_each_time() -> None:
    asked = points(PATTERNS, (4, 5000), "axis.by=graph")
    asked += points(("bcast", "gather"), (5000,), "axis.root=1 axis.by=graph")
    asked += points(("allreduce",), (5000,), "axis.place=in axis.by=graph")
    found = answers(2, [*asked, "pattern=bcast bytes=8 axis.by=magic"])
    assert found.pop()["message"] == "axis by has no value 'magic'"
    assert [answer["verified"] for answer in found] == [True] * len(asked)


@pytest.mark.usefixtures("stand_ins")
def test_nccl_is_called_once_for_a_graph_that_is_launched_often(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    counts = {}
    for by in ("launches", "graph"):
        events = tmp_path / by
        monkeypatch.setenv("NHALF_STAND_IN_NCCL_EVENTS", str(events))
        answers(2, [f"pattern=allreduce bytes=800 axis.by={by}"], timed=True)
        counts[by] = int(events.read_text().split()[-1])
    assert counts["graph"] <= 4
    assert counts["launches"] > 10


@pytest.mark.usefixtures("stand_ins")
def test_a_driver_without_graphs_refuses_them_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NHALF_CUDA_LIBRARY", str(gpu_stand_in(without="graphs")))
    refused, plain = answers(
        2, points(("bcast",), (8,), "axis.by=graph") + points(("bcast",), (8,))
    )
    assert refused["message"] == "the GPU driver has no graphs: leave out by=graph"
    assert plain["verified"]


@pytest.mark.usefixtures("stand_ins")
def test_a_graph_that_moves_wrong_data_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FAULT, "wrong-data")
    found = answers(2, points(("allreduce", "bibw"), (5000,), "axis.by=graph"))
    assert [answer["verified"] for answer in found] == [False, False]


CHOICES = [
    ("allreduce", 8, {"nccl_tree_ll_channels": 2}),
    ("allreduce", 65_536, {"nccl_ring_ll128_channels": 24}),
    ("pingpong", 8, {}),
    ("bcast", 8, {"nccl_tree_ll_channels": 2}),
]
"""What the stand-in takes, by pattern and size; messages have neither algorithm nor protocol."""


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("version", [22304, 22403, 22703, 22803, 23007])
@pytest.mark.sampled(2)
def test_what_nccl_takes_is_named_and_asked_for_once_a_point(
    version: int, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    events = tmp_path / "events"
    monkeypatch.setenv("NHALF_STAND_IN_NCCL_VERSION", str(version))
    monkeypatch.setenv("NHALF_STAND_IN_NCCL_EVENTS", str(events))
    questions = [f"pattern={name} bytes={size}" for name, size, _ in CHOICES]
    answered = answers(2, questions, timed=True)
    is_known = version >= 22400
    assert [choice_in(answer) for answer in answered] == [
        choice if is_known else {} for _, _, choice in CHOICES
    ]
    told, of, operations = events.read_text().split()
    assert (int(told), of) == (len(CHOICES) if is_known else 0, "of")
    assert int(operations) > 2 * len(CHOICES)


def built(file: Path, delay_s: float) -> Path:
    """A stand-in whose operations take so much longer."""
    source = str(NATIVE / STAND_INS["NHALF_NCCL_LIBRARY"])
    late = f"-DNHALF_STAND_IN_DELAY_US={delay_s * 1e6:.0f}"
    words = ["c++", "-std=c++20", "-O1", "-shared", "-fPIC", late, source, "-o", str(file)]
    subprocess.run(words, check=True)
    return file


@pytest.mark.usefixtures("stand_ins")
def test_an_operation_is_over_by_three_definitions(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """The delay of this stand-in is in its calls, and none of it on the clock of its GPU."""
    delay_s = 0.02
    monkeypatch.setenv("NHALF_NCCL_LIBRARY", str(built(tmp_path / "late.so", delay_s)))
    questions = ["pattern=allreduce bytes=8", "pattern=pingpong bytes=8"]
    allreduce, pingpong = (answer["values"] for answer in answers(2, questions, timed=True))
    assert delay_s <= allreduce["host_returns_s"] <= allreduce["host_knows_s"]
    assert 0 < allreduce["device_done_s"] < delay_s
    assert "host_returns_s" not in pingpong


@pytest.mark.usefixtures("stand_ins")
def test_a_profiler_of_the_user_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NCCL_PROFILER_PLUGIN", "none")
    (answered,) = answers(2, ["pattern=allreduce bytes=8"])
    assert answered["verified"]
    assert choice_in(answered) == {}


@pytest.mark.usefixtures("stand_ins")
def test_wrong_data_is_found_in_every_operation(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(FAULT, "wrong-data")
    found = answers(2, points(PATTERNS, (5000,)))
    assert [answer["verified"] for answer in found] == [False] * len(PATTERNS)


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize(
    ("question", "words"),
    [
        ("pattern=pingpong bytes=0", "no message has 0 bytes here"),
        ("pattern=many-to-one bytes=8", "the transport does not offer it"),
        ("pattern=alltoall bytes=8 axis.place=in", "leave out place=in"),
        ("pattern=reduce-scatter bytes=8 axis.place=in", "leave out place=in"),
        ("pattern=allreduce bytes=8 axis.op=user", "by op=sum, min or max"),
        ("pattern=allreduce bytes=16 axis.type=complex", "type=float, char, int, long or double"),
        ("pattern=allreduce bytes=8 axis.algorithm=ring", "algorithms of nhalf's own"),
        ("pattern=allreduce bytes=8 axis.memory=host", "has no axis 'memory'"),
    ],
)
def test_what_nccl_does_not_do_is_refused_in_one_line(question: str, words: str) -> None:
    refused, after = answers(2, [question, "pattern=bcast bytes=8"])
    assert words in refused["message"]
    assert "\n" not in refused["message"]
    assert after["verified"]


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize(
    ("fault", "words"),
    [
        ("init", "NCCL failed (ncclCommInitRank: unhandled system error, 2)"),
        ("async", "NCCL failed (an operation under way: remote process exited"),
        ("hang", "took longer than limit_s allows"),
    ],
)
def test_what_fails_ends_the_ranks_with_a_line(
    monkeypatch: pytest.MonkeyPatch, fault: str, words: str
) -> None:
    monkeypatch.setenv(FAULT, fault)
    with pytest.raises(LaunchError) as caught:
        answers(2, points(("allreduce",), (8,)), "limit_s=1")
    assert words in str(caught.value)


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.parametrize("limit", ["0", "-1", "nan"])
def test_a_limit_is_above_zero(limit: str) -> None:
    with pytest.raises(LaunchError, match="limit_s"):
        answers(2, [], f"limit_s={limit}")


def test_a_library_that_lacks_a_call_is_named(
    stand_ins: dict[str, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    driver = stand_ins["NHALF_CUDA_LIBRARY"]
    monkeypatch.setenv("NHALF_NCCL_LIBRARY", str(driver))
    with pytest.raises(LaunchError, match="has no ncclGetVersion; it is too old or not NCCL"):
        answers(2, [])


@pytest.mark.usefixtures("stand_ins")
def test_a_file_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NHALF_NCCL_LIBRARY", "/nowhere/libnccl.so.2")
    with pytest.raises(MissingError, match=r"names /nowhere/libnccl\.so\.2, which is not a file"):
        subject()


def run(call: Call, out: Path, *words: str) -> Any:
    asked = ("--ranks", "2", "--bytes", "8", "--launches", "4", "--budget", duration(20))
    asked += ("--transport", "nccl", "--mpi", FOUND[0].name)
    return call("run", "--pattern", "allreduce", *asked, *words, "--out", out)


def without_flags(run: Path) -> None:
    """Take the state of the machine out of a run: other tests may keep its cores busy."""
    lines = [json.loads(line) for line in (run / "journal.jsonl").read_text().splitlines()]
    for line in lines:
        values = line.get("values", [])
        line["values"] = [value for value in values if not value["name"].startswith("flag_")]
    (run / "journal.jsonl").write_text("".join(f"{json.dumps(line)}\n" for line in lines))
    (run / "measurements.parquet").unlink()


@pytest.mark.full
@pytest.mark.slow
@pytest.mark.usefixtures("stand_ins")
def test_files_of_nccl_are_measured_in_turns_and_the_slower_one_is_named(
    call: Call, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    usual, slow = built(tmp_path / "usual.so", 0.05), built(tmp_path / "slow.so", 0.2)
    monkeypatch.setenv("NHALF_NCCL_LIBRARY", str(usual))
    same = shutil.copy(usual, tmp_path / "same.so")
    folder = tmp_path / "run"
    settings = [f"--setting={file.stem}: nccl.library={file}" for file in (Path(same), slow)]
    outcome = run(call, folder, *settings)
    assert outcome.code == 0, outcome.err
    assert "Ranks shared a GPU and took turns on it" in outcome.out
    journal = (folder / "journal.jsonl").read_text()
    assert "NCCL 2.30.7, ranks in time slices of one GPU: no network" in journal
    without_flags(folder)
    verdicts = {}
    for name in ("same", "slow"):
        sides = (f"{folder}:nccl", f"{folder}:nccl+{name}")
        compared = call("compare", *sides, "--tolerance", "50%", "--format", "json")
        verdicts[name] = compared.code, json.loads(compared.out)["verdict"]
    assert verdicts == {"same": (0, "equal"), "slow": (1, "slower")}


@pytest.mark.usefixtures("stand_ins")
@pytest.mark.full
def test_a_rank_that_is_killed_ends_the_others_and_is_named() -> None:
    said, processes, ended_s = killed("nccl", 2, 1)
    assert ended_s < patience_s(ENDS_WITHIN_S)
    assert f"rank 1 (process {processes[1]})" in said


def test_without_nccl_a_run_says_once_how_to_install_it(
    call: Call, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("NHALF_NCCL_LIBRARY", raising=False)
    monkeypatch.setattr("nhalf.mpi.transport_files.find_spec", lambda _: None)
    monkeypatch.setattr("ctypes.util.find_library", lambda _: None)
    monkeypatch.setenv("LD_LIBRARY_PATH", "")
    outcome = run(call, tmp_path / "run")
    assert outcome.code == 3
    assert outcome.err.splitlines() == [
        "nhalf: error: transport nccl needs libnccl.so.2, which is not here; pip install "
        "nvidia-nccl-cu13, or name its file in NHALF_NCCL_LIBRARY"
    ]
