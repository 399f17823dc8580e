"""Real starts on every library of this machine, and bad launchers beside them."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.compiled import COMPILER_REMEDY
from nhalf.base.processes import ProgramOutcome, run
from nhalf.mpi import Library
from nhalf.mpi.discover import Broken, Discovery, libraries, newest
from nhalf.mpi.probe import probe_command
from nhalf.mpi.transport_files import transport_files
from nhalf.sites import examine as module
from nhalf.sites import hello as starting
from nhalf.sites.examine import (
    ABSENT,
    BAD,
    DOUBT,
    GOOD,
    ExaminedItem,
    can_measure,
    examine,
)
from nhalf.sites.hello import Hello, hello
from nhalf.sites.start import StartCommand, cores, start
from tests.patience import patience_s
from tests.probes import is_built

Script = Callable[[Path, str], Path]


def put(root: Path, name: str, text: str = "") -> None:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def named(findings: object) -> dict[str, ExaminedItem]:
    return {one.name: one for one in findings}  # type: ignore[attr-defined]


def test_every_doubt_has_a_remedy_and_every_name_is_its_own(empty_machine: Path) -> None:
    broken = [Broken(Path("/a/bin/mpiexec"), "path", "hangs")]
    findings = list(examine(Discovery([], broken)))
    assert len({one.name for one in findings}) == len(findings)
    assert all(one.found for one in findings)
    assert all(one.remedy for one in findings if one.state != GOOD)
    assert named(findings)["mpi"].state == BAD
    assert named(findings)["mpiexec of /a/bin"].found == "hangs"


def test_it_says_what_it_looks_at_before_it_does(empty_machine: Path) -> None:
    told: list[str] = []
    findings = examine(Discovery([], []), told.append)
    assert told == []
    next(findings)
    assert told == ["nhalf"]
    list(findings)
    assert told[1:4] == ["this machine", "the load", "memory between ranks"]
    assert "what transport ucx is linked with" in told


@pytest.mark.parametrize(
    ("findings", "ready"),
    [
        ([], False),
        ([("probes", GOOD)], False),
        ([("probes", GOOD), ("mpi mpich-5", GOOD)], True),
        ([("probes", GOOD), ("mpi mpich-5", DOUBT), ("mpi x", BAD)], True),
        ([("probes", BAD), ("mpi mpich-5", GOOD)], False),
        ([("probes", GOOD), ("mpi mpich-5", BAD)], False),
        ([("probes", GOOD), ("mpiexec of /a/bin", DOUBT)], False),
    ],
)
def test_ready_means_probes_and_one_library(findings: list[tuple[str, str]], ready: bool) -> None:
    assert can_measure([ExaminedItem(name, state, "x") for name, state in findings]) is ready


@pytest.mark.parametrize(
    ("content", "cores"),
    [("150000 100000", 1.5), ("max 100000", None), ("", None), ("0 0", None), ("a b", None)],
)
def test_quota_of_a_container(content: str, cores: float | None, tmp_path: Path) -> None:
    put(tmp_path, "sys/fs/cgroup/cpu.max", content)
    assert module._quota_cores(tmp_path) == cores


@pytest.mark.parametrize(("quota", "cores"), [("-1", None), ("50000", 0.5)])
def test_quota_of_an_older_container(quota: str, cores: float | None, tmp_path: Path) -> None:
    put(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", quota)
    put(tmp_path, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000")
    assert module._quota_cores(tmp_path) == cores


def test_a_small_share_is_doubted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: 4)
    put(tmp_path, "sys/fs/cgroup/cpu.max", "150000 100000")
    assert named(module.cores_and_speed(tmp_path))["quota"].state == DOUBT
    put(tmp_path, "sys/fs/cgroup/cpu.max", "400000 100000")
    assert "quota" not in named(module.cores_and_speed(tmp_path))


def test_one_core_is_doubted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for count, state in ((1, DOUBT), (2, GOOD)):
        monkeypatch.setattr(module, "cores", lambda count=count: count)
        assert named(module.cores_and_speed(tmp_path))["cores"].state == state


@pytest.mark.parametrize(
    ("governors", "state"),
    [([], GOOD), (["performance", "performance"], GOOD), (["performance", "powersave"], DOUBT)],
)
def test_governor(governors: list[str], state: str, tmp_path: Path) -> None:
    for number, text in enumerate(governors):
        folder = f"sys/devices/system/cpu/cpu{number}/cpufreq"
        put(tmp_path, f"{folder}/scaling_governor", f"{text}\n")
    assert named(module.cores_and_speed(tmp_path))["governor"].state == state


def test_virtual_machines_are_named(tmp_path: Path) -> None:
    assert "machine" not in named(module.cores_and_speed(tmp_path))
    put(tmp_path, "proc/cpuinfo", "flags : fpu hypervisor sse")
    assert "virtual" in named(module.cores_and_speed(tmp_path))["machine"].found


@pytest.mark.parametrize(("running", "state"), [(0.0, GOOD), (1.0, GOOD), (1.1, DOUBT)])
def test_load(running: float, state: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "cores", lambda: 2)
    monkeypatch.setattr(os, "getloadavg", lambda: (running, 9.0, 9.0))
    assert module.load().state == state


@pytest.mark.parametrize(
    ("file", "kind"), [("", ""), (".dockerenv", "docker"), ("run/.containerenv", "podman")]
)
def test_containers(file: str, kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("KUBERNETES_SERVICE_HOST", raising=False)
    if file:
        put(tmp_path, file)
    assert module._container(tmp_path) == kind
    if not file:
        monkeypatch.setenv("APPTAINER_CONTAINER", "/x.sif")
        assert module._container(tmp_path) == "apptainer"


def test_memory_between_ranks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "can_read_neighbours", lambda: False)
    found = named(module.memory_between_ranks(tmp_path))
    assert found["copying"].state == DOUBT
    assert found["shared memory"].state == DOUBT
    (tmp_path / "dev/shm").mkdir(parents=True)
    usage = shutil.disk_usage(tmp_path)
    for free_bytes, state in ((64 << 20, DOUBT), (1 << 30, GOOD)):
        free = usage._replace(free=free_bytes)
        monkeypatch.setattr(shutil, "disk_usage", lambda path, free=free: free)
        assert named(module.memory_between_ranks(tmp_path))["shared memory"].state == state


def test_disks(empty_machine: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(empty_machine)
    assert set(named(module.disks())) == {"runs", "libraries", "cache"}
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    assert {one.state for one in module.disks()} == {DOUBT}


def test_a_compiler_for_probes_that_were_not_built(
    empty_machine: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = empty_machine / "native/include/transports"
    folder.mkdir(parents=True)
    (folder / "threads.hpp").write_text("// nhalf-needs: Threads\n")
    (folder / "ucx.hpp").write_text("// nhalf-needs: MPI\n// nhalf-links: -lucp\n")
    monkeypatch.setenv("NHALF_NATIVE_DIR", str(folder.parents[1]))
    finding = module.compiler([])
    assert (finding.state, finding.found) == (
        DOUBT,
        "none, but needed for transport mpi, transport threads",
    )


def test_compiler(empty_machine: Path, script: Script) -> None:
    assert module.compiler([]).state == GOOD
    script(empty_machine / "data/nhalf/mpi/x/bin/mpiexec", "echo '(Open MPI) 5.0.11'")
    from nhalf.mpi.discover import libraries

    finding = module.compiler(libraries())
    assert (finding.state, "openmpi-5.0.11" in finding.found) == (DOUBT, True)
    script(empty_machine / "bin/g++", "true")
    assert module.compiler(libraries()).state == GOOD


@pytest.mark.parametrize(
    "text",
    [
        "mpicxx: line 9: c++: command not found",
        "/x/bin/mpicxx: 9: c++: not found",
        "---\nThe Open MPI wrapper compiler was unable to find the specified compiler\ng++ in your",
    ],
)
def test_a_transport_without_a_compiler(empty_machine: Path, script: Script, text: str) -> None:
    folder = empty_machine / "data/nhalf/mpi/x/bin"
    script(folder / "mpiexec", "echo '(Open MPI) 5.0.11'")
    script(folder / "mpicxx", f"echo '{text}' >&2; exit 127")
    from nhalf.mpi.discover import libraries

    finding = module.linked_transport(libraries(), transport_files()["ucx"])
    assert (finding.state, finding.found) == (ABSENT, "transport ucx needs a C++ compiler")
    assert finding.remedy == COMPILER_REMEDY
    without = module.linked_transport([], transport_files()["ucx"])
    assert (without.state, without.remedy) == (ABSENT, "nhalf mpi install mpich")


def test_no_simulator(empty_machine: Path) -> None:
    finding = module.simulator()
    assert finding.state == ABSENT
    assert finding.found.startswith("simulations need SimGrid: smpirun and smpicxx are not")


FOUND = newest(libraries())
TIMEOUT_S = 120.0


pytestmark = [
    pytest.mark.skipif(not FOUND, reason="no MPI library here: nhalf mpi install mpich openmpi"),
    pytest.mark.skipif(not is_built("probe-mpi-abi"), reason="the probes are not built"),
]
every_library = pytest.mark.parametrize("library", FOUND, ids=lambda one: one.name)


def placement(stdout: str) -> list[dict[str, Any]]:
    lines = [json.loads(line) for line in stdout.splitlines() if line.startswith('{"nhalf"')]
    return next(line["placement"] for line in lines if line["nhalf"] == "launch")


def started(begin: StartCommand, typed: str) -> ProgramOutcome:
    """What came of it, tried again where the port of another test's lab went during MPI_Init."""
    outcome = run(begin.command, patience_s(TIMEOUT_S), begin.environment, typed)
    if not outcome.succeeded and "No such device" in outcome.stdout + outcome.stderr:
        return run(begin.command, patience_s(TIMEOUT_S), begin.environment, typed)
    return outcome


@pytest.mark.parametrize(
    ("cpus", "apart"),
    [((), False), (((0,), (0,)), False), (((0, 1), (1, 2)), False), (((0,), (1,)), True)],
)
def test_cores_of_their_own(cpus: tuple[tuple[int, ...], ...], apart: bool) -> None:
    assert Hello("", 0.1, cpus=cpus).bound_apart is apart


@every_library
@pytest.mark.sampled(1)
def test_two_ranks_talk_on_cores_of_their_own(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "TIMEOUT_S", patience_s(starting.TIMEOUT_S))
    outcome = hello(library)
    if outcome.reason:
        # UCX opens every port that it has found: one of a lab may have gone. Runs try again, too.
        outcome = hello(library)
    assert outcome.reason == ""
    assert len(outcome.cpus) == 2
    assert outcome.bound_apart == (cores() >= 2)
    assert library.version.split(".post")[0] in outcome.banner
    if outcome.has_probe and library.vendor in ("mpich", "openmpi"):
        control, performance = outcome.mpi_t
        assert control > 400
        assert (performance > 0) == (library.vendor == "openmpi")


def test_a_small_program_talks_where_the_probe_is_not_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_compiler = next((one for one in FOUND if one.compiler), None)
    if with_compiler is None:
        pytest.skip("no MPI library here has a C++ compiler wrapper")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(starting, "TIMEOUT_S", patience_s(starting.TIMEOUT_S))
    outcome = hello(replace(with_compiler, abi=False))
    assert outcome.reason == ""
    assert not outcome.has_probe
    assert len(outcome.cpus) == 2
    assert with_compiler.version.split(".post")[0] in outcome.banner


@pytest.mark.sampled(4)
@every_library
@pytest.mark.parametrize("bind", [True, False])
@pytest.mark.parametrize("extra", [0, 2])
def test_any_number_of_ranks_starts(library: Library, bind: bool, extra: int) -> None:
    ranks = cores() + extra
    begin = start(library, probe_command(library), ranks, bind)
    outcome = started(begin, "end\n")
    assert outcome.succeeded, outcome.reason
    places = placement(outcome.stdout)
    assert [one["rank"] for one in places] == list(range(ranks))
    taken = [set(one["allowed_cpus"]) for one in places]
    if not bind:
        assert {frozenset(one) for one in taken} == {frozenset(taken[0])}
        assert len(taken[0]) == cores()
    elif not extra:
        assert sum(map(len, taken)) == len(set.union(*taken))


@every_library
@pytest.mark.sampled(1)
def test_input_reaches_rank_0_line_by_line(library: Library) -> None:
    points = [f"id=p{number} pattern=pingpong bytes=8 slice_s=0.01" for number in range(20)]
    begin = start(library, probe_command(library), 2)
    outcome = started(begin, "\n".join([*points, "end\n"]))
    lines = [json.loads(line) for line in outcome.stdout.splitlines()]
    assert [one["id"] for one in lines if one["nhalf"] == "point"] == [f"p{n}" for n in range(20)]


@every_library
def test_another_library_on_the_path_does_not_take_over(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    others = [one for one in FOUND if one.vendor != library.vendor]
    folders = ":".join(one.environment.get("LD_LIBRARY_PATH", "") for one in others)
    monkeypatch.setenv("LD_LIBRARY_PATH", folders)
    monkeypatch.setenv("PYTHONPATH", "/nonexistent")
    monkeypatch.setenv("OPAL_PREFIX", "/nonexistent")
    again = next(one for one in libraries() if one.name == library.name)
    assert library.version.split(".post")[0] in hello(again).banner


@pytest.mark.parametrize(
    ("body", "reason"),
    [
        ("echo 'no slots' >&2; exit 1", "exit code 1: no slots"),
        ("sleep 1000", "no end within"),
        ("yes '{\"nhalf\":'", "says more than a megabyte"),
        ('echo \'{"nhalf": "point", "verified": false}\'', "no message arrived"),
        ("echo '[1]'; echo '{\"nhalf\": 3}'", "no message arrived"),
        ("exit 0", "no message arrived"),
    ],
)
def test_a_bad_launcher_is_a_reason(
    body: str, reason: str, tmp_path: Path, script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(starting, "TIMEOUT_S", patience_s(0.5))
    bad = script(tmp_path / "mpiexec", body)
    outcome = hello(replace(FOUND[0], mpiexec=bad))
    assert reason in outcome.reason
    assert not outcome.bound_apart


@every_library
def test_copies_without_a_launcher_are_worlds_of_their_own(
    library: Library, tmp_path: Path, script: Script
) -> None:
    """As under process management that the library does not speak."""
    body = 'while [ ! -x "$1" ]; do shift; done; "$@" </dev/null & "$@"; wait'
    apart = script(tmp_path / "mpiexec", body)
    outcome = hello(replace(library, mpiexec=apart))
    assert "started 2 worlds of one rank instead of one world of 2" in outcome.reason
    assert library.version in outcome.reason


def test_noise_around_the_records_does_no_harm(tmp_path: Path, script: Script) -> None:
    library = FOUND[0]
    body = f'echo "*** welcome ***"; echo "{{"; exec {library.mpiexec} "$@"'
    noisy = script(tmp_path / "mpiexec", body)
    assert hello(replace(library, mpiexec=noisy)).reason == ""
