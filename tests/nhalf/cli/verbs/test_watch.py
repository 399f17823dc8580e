"""A program that is watched while it runs: counters, the late rank, and every way to end."""

from __future__ import annotations

import itertools
import json
import math
import os
import re
import shutil
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.openmetrics.parser import text_string_to_metric_families

from nhalf.cli.verbs import watch
from nhalf.measure.traced.start import folder_of_ranks
from nhalf.mpi.preload import VERBOSE, preload
from tests.named_memory import ROLL_CALLS
from tests.nhalf.measure.traced.programs import (
    CASES,
    TIMEOUT_S,
    built,
    environment,
    launch,
    tracing_libraries,
)
from tests.patience import patience_s
from tests.schemas import check_schema

Call = Callable[..., Any]
ACCEPTED = "application/openmetrics-text; version=1.0.0"
RANKS = 4
LATE = 2
STEP_US = 20_000
"""Ranks that wait compute as much as the others let them: most of a step all of them sleep."""
needs_library = pytest.mark.skipif(not CASES, reason="no MPI library here")


@pytest.fixture(scope="module")
def program(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """It sleeps for its computing, so that two cores are enough for all ranks."""
    library, compiler = CASES[0]
    program = built(library, compiler, "steps.cpp", tmp_path_factory.mktemp("steps"))
    # What traces is compiled before, where it has to be.
    tracing_libraries([*launch(library, RANKS), str(program)])
    return program


def nhalf(*words: object, **streams: Any) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "nhalf", *map(str, words)],
        env={
            **os.environ,
            **environment(CASES[0][0]),
            "PYTHONPATH": os.pathsep.join(sys.path),
        },
        text=True,
        start_new_session=True,
        **streams,
    )


@contextmanager
def traced(program: Path, folder: Path, *words: object) -> Iterator[subprocess.Popen[str]]:
    """The program under the tracer, which is ended with the block."""
    command = [*launch(CASES[0][0], RANKS), program, *words]
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    with nhalf("trace", "--out", folder, "--", *command, **quiet) as job:
        try:
            yield job
        finally:
            if job.poll() is None:
                job.send_signal(signal.SIGTERM)
                job.wait(patience_s(TIMEOUT_S))


@contextmanager
def preloaded(
    program: Path, folder: Path, *words: object, **streams: Any
) -> Iterator[subprocess.Popen[str]]:
    """The program with routed collectives, which count what they do; it is ended with the block."""
    library = CASES[0][0]
    loaded = preload(library, program).counting_into(folder_of_ranks(folder))
    command = [*launch(library, RANKS), "env", *loaded.words, program, *words]
    surroundings = {**os.environ, **environment(library)}
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, **streams}
    with subprocess.Popen(
        [str(word) for word in command],
        env=surroundings,
        text=True,
        start_new_session=True,
        **quiet,
    ) as job:
        try:
            yield job
        finally:
            if job.poll() is None:
                job.send_signal(signal.SIGTERM)
                job.wait(patience_s(TIMEOUT_S))


STARTS = [
    pytest.param(traced, True, id="traced-until-named"),
    *(pytest.param(one, False, marks=pytest.mark.full) for one in (traced, preloaded)),
]
"""How the program is started, and whether it is ended as soon as somebody is named."""


@contextmanager
def watching(folder: Path, *words: object) -> Iterator[subprocess.Popen[str]]:
    """The watch, which is killed where a test fails."""
    pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with nhalf("watch", folder, *words, **pipes) as watch:
        try:
            yield watch
        finally:
            watch.kill()


def until(is_so: Callable[[], bool]) -> None:
    end_s = time.monotonic() + patience_s(TIMEOUT_S)
    while not is_so():
        assert time.monotonic() < end_s
        time.sleep(0.05)


def ranks_of(folder: Path) -> list[int]:
    """The processes that have written which rank they are."""
    paths = [path for path in (folder / "ranks").glob("*.json") if path.read_bytes()[:1] == b"{"]
    return [int(path.stem.rpartition("-")[2]) for path in paths]


def counted(text: str) -> dict[tuple[str, str], float]:
    """Calls by rank and kind."""
    return {
        (sample.labels["rank"], sample.labels["kind"]): sample.value
        for family in text_string_to_metric_families(text)
        for sample in family.samples
        if sample.name == "nhalf_mpi_calls_total"
    }


@needs_library
def test_counters_while_it_runs(program: Path, tmp_path: Path) -> None:
    with traced(program, tmp_path / "traced", STEP_US, 600, -1, 0, 1):
        looks = []
        for _ in range(2):
            with watching(tmp_path / "traced", "--once") as watch:
                out, err = watch.communicate(timeout=patience_s(TIMEOUT_S))
            assert (watch.returncode, err) == (0, "")
            looks.append(counted(out))
        assert len({rank for rank, _ in looks[1]}) == RANKS
        assert looks[1]["0", "collective"] > looks[0].get(("0", "collective"), 0)
        with watching(tmp_path / "traced", "--once", "--json") as watch:
            out, _ = watch.communicate(timeout=patience_s(TIMEOUT_S))
        check_schema(out)
        answer = json.loads(out)
        assert (answer["ranks"], answer["state"], answer["stragglers"]) == (RANKS, "running", [])
        assert [rank["up"] for rank in answer["counters"]] == [True] * RANKS


@pytest.mark.slow
@needs_library
@pytest.mark.parametrize(("started", "is_enough"), STARTS)
def test_a_rank_that_becomes_late_is_named_and_no_other(
    started: Callable[..., Any], is_enough: bool, program: Path, tmp_path: Path
) -> None:
    folder = tmp_path / "job"
    asked = (program, folder, STEP_US, patience_s(9), LATE, 2, 1.5)
    lines = []
    with started(*asked) as job, watching(folder) as watch:
        assert watch.stdout is not None
        for line in watch.stdout:
            lines.append(line.rstrip("\n").split("  ", 1)[1])
            if is_enough and " enters " in line and job.poll() is None:
                job.send_signal(signal.SIGTERM)
        _, err = watch.communicate(timeout=patience_s(TIMEOUT_S))
    assert (watch.returncode, err) == (0, "")
    assert lines[0].startswith(f"watching {RANKS} ranks of ")
    assert lines[-1].startswith("killed: " if is_enough else "the program has ended; watched for ")
    late = [line for line in lines if " enters " in line]
    assert late
    assert all(line.startswith(f"rank {LATE} on ") for line in lines[1 : 1 + len(late)]), lines


@needs_library
def test_the_endpoint_while_it_runs_and_not_afterwards(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "traced"
    with (
        traced(program, folder, STEP_US, 600, -1, 0, 1),
        watching(folder, "--listen", "0") as watch,
    ):
        assert watch.stderr is not None
        place = watch.stderr.readline().removeprefix("nhalf: serving ").strip()
        assert place.startswith("http://127.0.0.1:")
        request = urllib.request.Request(place, headers={"Accept": ACCEPTED})
        with urllib.request.urlopen(request, timeout=patience_s(30)) as answer:
            assert counted(answer.read().decode())["0", "collective"] > 0
        watch.send_signal(signal.SIGINT)
        _, err = watch.communicate(timeout=patience_s(TIMEOUT_S))
        assert (watch.returncode, err) == (130, "nhalf: interrupted\n"), err
        assert all(Path(f"/proc/{pid}").exists() for pid in ranks_of(folder))
        with pytest.raises(OSError, match="refused"):
            urllib.request.urlopen(place, timeout=patience_s(30))


@needs_library
@pytest.mark.parametrize("whom", ["ranks", pytest.param("nhalf", marks=pytest.mark.full)])
def test_it_ends_where_the_program_is_killed(whom: str, program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "traced"
    with traced(program, folder, STEP_US, 5, -1, 0, 1) as job, watching(folder, "--json") as watch:
        until(lambda: len(ranks_of(folder)) == RANKS)
        for pid in ranks_of(folder) if whom == "ranks" else [job.pid]:
            os.kill(pid, signal.SIGKILL)
        out, _ = watch.communicate(timeout=patience_s(TIMEOUT_S))
    assert watch.returncode == 0
    # Ranks whose tracer was killed may come to their end.
    assert json.loads(out)["state"] in ("killed", *(["finished"] if whom == "nhalf" else []))


@needs_library
def test_routed_collectives_are_counted_as_the_library_itself_counts_them(
    program: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VERBOSE, "1")
    with preloaded(program, tmp_path / "job", 300, 1, -1, 0, 1, stderr=subprocess.PIPE) as job:
        _, told = job.communicate(timeout=patience_s(TIMEOUT_S))
    with watching(tmp_path / "job", "--once") as watch:
        out, err = watch.communicate(timeout=patience_s(TIMEOUT_S))
    assert (watch.returncode, err) == (0, "")
    families = {family.name: family for family in text_string_to_metric_families(out)}
    counted_of_rank_0 = {
        (sample.labels["operation"], sample.labels["way"]): sample.value
        for sample in families["nhalf_collective_calls"].samples
        if sample.labels["rank"] == "0"
    }
    lines = re.findall(r"^nhalf: (\S+) (\S+) (\d+)$", told, re.MULTILINE)
    assert counted_of_rank_0 == {(name, way): float(calls) for name, way, calls in lines}
    assert sum(calls for (name, _), calls in counted_of_rank_0.items() if name == "barrier") == 1
    moved = {
        (sample.labels["operation"], sample.labels["way"]): sample.value
        for sample in families["nhalf_collective_bytes"].samples
        if sample.labels["rank"] == "0"
    }
    assert all(
        moved[key] == calls * (4 if key[0] == "allreduce" else 0)
        for key, calls in counted_of_rank_0.items()
    )
    assert len(families["nhalf_collective_saved_seconds"].samples) == RANKS


@needs_library
def test_a_preloaded_program_is_watched_until_it_is_killed(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    with preloaded(program, folder, STEP_US, 600, -1, 0, 1), watching(folder, "--json") as watch:
        until(lambda: len(ranks_of(folder)) == RANKS)
        pids = ranks_of(folder)
        for pid in pids:
            os.kill(pid, signal.SIGKILL)
        out, err = watch.communicate(timeout=patience_s(TIMEOUT_S))
    assert watch.returncode == 0, err
    check_schema(out)
    assert json.loads(out)["state"] == "killed"
    # The next program removes by what the ranks have found each other.
    with preloaded(program, tmp_path / "next", 300, 0.2, -1, 0, 1) as job:
        assert job.wait(patience_s(TIMEOUT_S)) == 0
    entries = Path("/dev/shm").glob(f"{ROLL_CALLS}*/*.*.*")
    assert not {int(entry.name.split(".")[1]) for entry in entries} & set(pids)


@needs_library
def test_each_program_counts_into_a_folder_of_its_own(
    call: Call, program: Path, tmp_path: Path
) -> None:
    words = ("mpi", "preload", CASES[0][0].name, "--program", program, "--out", tmp_path / "job")
    told = call(*words)
    assert told.code == 0, told.err
    assert f"NHALF_COLL_COUNTERS={tmp_path / 'job' / 'ranks'}" in told.out.split()
    assert (tmp_path / "job" / "ranks").is_dir()
    call(*words).is_error(2, "holds a trace or counters already")


@needs_library
def test_a_program_runs_on_where_it_cannot_be_watched(program: Path, tmp_path: Path) -> None:
    folder = tmp_path / "job"
    with preloaded(program, folder, 300, 0.2, -1, 0, 1, stderr=subprocess.PIPE) as job:
        shutil.rmtree(folder)
        _, told = job.communicate(timeout=patience_s(TIMEOUT_S))
    assert job.returncode == 0
    assert told.count("this process is not watched: ") == RANKS


def test_no_program_comes(call: Call, tmp_path: Path) -> None:
    call("watch", tmp_path / "none", "--timeout", "10ms").is_error(2, "no rank writes into")
    (tmp_path / "ranks").mkdir()
    call("watch", tmp_path, "--timeout", "10ms", "--json").is_error(2, "no rank writes into")


def rank_elsewhere(folder: Path) -> None:
    process = {
        **{"version": 5, "rank": 0, "size": 1, "host": "elsewhere", "pid": 1, "launch": "hydra 1"},
        **{"library": "MPICH Version: 5.0.2", "calls": [], "ready_ns": 1},
    }
    (folder / "ranks").mkdir()
    (folder / "ranks" / "elsewhere-00000000-1.json").write_text(json.dumps(process) + "\n")


class Enough(Exception):
    """Ends a watch that would go on."""


@pytest.mark.parametrize(("look_s", "pause_s"), [(0.0, 0.25), (1e-4, 0.25), (0.01, 10.0)])
def test_a_thousandth_of_a_processor_is_the_most(
    look_s: float, pause_s: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rank_elsewhere(tmp_path)
    used_s = (look_s * number for number in itertools.count())
    pauses_s: list[float] = []

    def pause(time_s: float) -> None:
        pauses_s.append(time_s)
        if len(pauses_s) == 100:
            raise Enough

    monkeypatch.setattr(watch, "_used_s", lambda: next(used_s))
    watched = watch.Watch(tmp_path)
    watched.wait(1.0)
    monkeypatch.setattr("nhalf.cli.verbs.watch.time.sleep", pause)
    with pytest.raises(Enough):
        list(watched.lines(math.inf))
    assert pauses_s[-1] == pytest.approx(pause_s, rel=0.01)
    assert pauses_s == sorted(pauses_s)


def test_ranks_of_other_hosts_say_nothing(call: Call, tmp_path: Path) -> None:
    rank_elsewhere(tmp_path)
    silent = call("watch", tmp_path, "--silence", "10ms")
    assert silent.code == 2
    assert "no rank has made a call for 10 ms, and none runs here" in silent.err
    assert len(silent.out.splitlines()) == 1


def test_options_that_exclude_each_other(call: Call, tmp_path: Path) -> None:
    call("watch", tmp_path, "--once", "--listen", "1").is_error(2, "--once serves nothing")
    call("watch", tmp_path, "--listen", ":x").is_error(2, "no address")
    call("watch", tmp_path, "--timeout", "soon").is_error(2, "not a duration")
