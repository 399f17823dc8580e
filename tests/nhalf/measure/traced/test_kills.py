"""However suddenly a program ends, or what started it, nothing that it had sent is lost."""

from __future__ import annotations

import os
import random
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import polars as pl
import pytest

from nhalf.base.processes import run
from nhalf.measure.traced.collect import collect
from nhalf.measure.traced.tables import TraceFolder
from tests.nhalf.measure.traced.programs import (
    CASES,
    TIMEOUT_S,
    built,
    environment,
    launch,
    traced,
)
from tests.patience import patience_s

KILLS = 50
RANKS = 2
WAYS = ("all", "one", "abort", "exit")
pytestmark = pytest.mark.skipif(not CASES, reason="no MPI library here")


def check(trace: TraceFolder, said: Path) -> None:
    """What ranks said that they had sent is what was counted, but for the one in flight."""
    assert not trace.trace.complete
    calls = trace.table("calls").collect()
    for rank in range(RANKS):
        file = said.with_name(f"{said.name}{rank}")
        # A rank may be ended by its launcher before it has begun.
        sent = struct.unpack("<Q", file.read_bytes())[0] if file.exists() else 0
        own = calls.filter((pl.col("rank") == rank) & (pl.col("kind") == "sent"))
        assert sent <= int(own["count"].sum()) <= sent + 1


@pytest.mark.sampled(2)
@pytest.mark.parametrize(
    "number",
    [
        pytest.param(number, marks=[] if number < 3 else [pytest.mark.full])
        for number in range(KILLS)
    ],
)
def test_random_moments(number: int, tmp_path: Path, programs: Path) -> None:
    library, compiler = CASES[0]
    program = built(library, compiler, "endless.cpp", programs)
    moment = random.Random(number)
    way = WAYS[number % len(WAYS)]
    after = str(int(10 ** moment.uniform(0, 5.5)))
    said = tmp_path / "said-"
    outcome, trace = traced(
        library, tmp_path / "trace", RANKS, [str(program), str(said), after, way]
    )
    assert outcome.exit_code != 0
    assert trace.trace.exit_code == outcome.exit_code
    check(trace, said)


@pytest.mark.parametrize("way", ["exit", pytest.param("abort", marks=pytest.mark.full)])
def test_the_exit_code_is_the_same_as_without(way: str, tmp_path: Path, programs: Path) -> None:
    library, compiler = CASES[0]
    command = [
        str(built(library, compiler, "endless.cpp", programs)),
        str(tmp_path / "s"),
        "9",
        way,
    ]
    bare = run([*launch(library, 1), *command], patience_s(TIMEOUT_S), library.environment)
    outcome, _ = traced(library, tmp_path / "trace", 1, command)
    assert outcome.exit_code == bare.exit_code


def children(parent: int) -> Iterator[int]:
    """Processes that a process has started."""
    for name in Path(f"/proc/{parent}/task").glob("*/children"):
        yield from map(int, name.read_text().split())


@pytest.mark.parametrize("whom", ["nhalf", pytest.param("mpiexec", marks=pytest.mark.full)])
def test_whoever_started_it_is_killed(whom: str, tmp_path: Path, programs: Path) -> None:
    """Ranks end by themselves half a second later, if nobody ends them before."""
    library, compiler = CASES[0]
    program = built(library, compiler, "endless.cpp", programs)
    said, folder = tmp_path / "said-", tmp_path / "trace"
    words = [*launch(library, RANKS), str(program), str(said), "500000", "all"]
    process = subprocess.Popen(
        [sys.executable, "-m", "nhalf", "trace", "--out", str(folder), "--", *words],
        env={**os.environ, **environment(library)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    with process:
        first = said.with_name(f"{said.name}0")
        end_s = time.monotonic() + patience_s(TIMEOUT_S)
        while not (first.exists() and any(first.read_bytes())):
            assert process.poll() is None
            assert time.monotonic() < end_s
            time.sleep(0.01)
        victim = process.pid if whom == "nhalf" else next(children(process.pid))
        os.kill(victim, signal.SIGKILL)
        code = process.wait(patience_s(TIMEOUT_S))
    assert code == (-signal.SIGKILL if whom == "nhalf" else 128 + signal.SIGKILL)
    while any(map(runs, pids(folder))):
        assert time.monotonic() < end_s
        time.sleep(0.05)
    check(collect(folder), said)


def pids(folder: Path) -> list[int]:
    """Of the ranks that have begun."""
    return [int(path.stem.rsplit("-", 1)[1]) for path in (folder / "ranks").glob("*.json")]


def runs(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except OSError:
        return False
