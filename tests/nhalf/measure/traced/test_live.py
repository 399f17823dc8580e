"""The files of ranks while these run, made by hand: what is read, and how a program ends."""

from __future__ import annotations

import gc
import os
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest

from nhalf.measure.traced import live
from nhalf.measure.traced.layout import CELL, HEAD, HEAD_BYTES, MAGIC, SITE_BYTES, SITES, SITES_AT
from nhalf.measure.traced.live import FINISHED, KILLED, RUNNING, LiveTrace
from nhalf.measure.traced.tables import DESCRIPTION, KINDS
from nhalf.present.program.watching import ways_line

TICKS_PER_S = 2e9
CALLS = ["", "MPI_Allreduce", "MPI_Send"]
COLLECTIVE, SENT, AT_SITE = KINDS.index("collective"), KINDS.index("sent"), len(KINDS)
Counts = dict[tuple[int, int], tuple[int, int, float, float]]
"""Count, bytes, time and waiting in seconds, by call and kind."""


@pytest.fixture(autouse=True)
def scanned_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(live, "CHECK_S", 0.0)


def ended() -> int:
    """The number of a process that has ended."""
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


class Rank:
    """A rank's files as its process would write them."""

    def __init__(self, folder: Path, rank: int, size: int = 2, **process: Any) -> None:
        (folder / "ranks").mkdir(parents=True, exist_ok=True)
        self.stem = folder / "ranks" / f"host-{rank:08x}-{rank}"
        self.first = {
            **{"version": 5, "rank": rank, "size": size, "host": socket.gethostname()},
            **{"pid": os.getpid(), "library": "MPICH Version: 5.0.2", "calls": CALLS},
            **{"launch": "hydra 1", "ready_ns": 1, **process},
        }

    def begin(self) -> None:
        """Within MPI_Init."""
        self.stem.with_suffix(".json").write_bytes(b"\0" * 64)

    def introduce(self) -> None:
        line = msgspec.json.encode(self.first) + b"\n"
        self.stem.with_suffix(".json").write_bytes(line + b"\0" * 64)

    def count(self, counts: Counts, elapsed_s: float = 10.0, **head: Any) -> None:
        """Introduce it, and write what it has counted."""
        self.introduce()
        first = np.zeros(1, HEAD)
        ticks = int(elapsed_s * TICKS_PER_S)
        given = {
            **{"magic": MAGIC, "version": 5, "cells": len(counts)},
            **{"begin_ticks": 1000, "last_ticks": 1000 + ticks, "last_ns": int(elapsed_s * 1e9)},
            **{"last_steady_ns": int(elapsed_s * 1e9), **head},
        }
        for name, value in given.items():
            first[name] = value
        cells = np.zeros(len(counts), CELL)
        for cell, ((call, kind), (count, moved, time_s, waiting_s)) in zip(
            cells, counts.items(), strict=True
        ):
            cell["call_and_kind"] = call << 4 | kind
            cell["count"], cell["bytes"] = count, moved
            cell["time"], cell["waiting"] = time_s * TICKS_PER_S, waiting_s * TICKS_PER_S
        content = first.tobytes().ljust(SITES_AT + SITES * SITE_BYTES, b"\0") + cells.tobytes()
        self.stem.with_name(f"{self.stem.name}-0.counts").write_bytes(content)


COUNTED: Counts = {
    (1, COLLECTIVE): (5, 40, 2.0, 1.5),
    (2, SENT): (3, 300, 0.5, 0.0),
    (1, AT_SITE): (5, 40, 2.0, 1.5),
}


def watched(folder: Path) -> LiveTrace:
    trace = LiveTrace(folder)
    trace.look()
    return trace


def test_counters_by_kind(tmp_path: Path) -> None:
    for number in range(2):
        Rank(tmp_path, number).count(COUNTED, collectives=5, computed=int(7 * TICKS_PER_S))
    trace = watched(tmp_path)
    assert (trace.size, trace.state, len(trace.ranks)) == (2, RUNNING, 2)
    (counts, _) = trace.counts()
    assert counts.sums_per_kind[:, COLLECTIVE] == pytest.approx([5, 40, 2.0, 1.5])
    assert counts.sums_per_kind[:, SENT] == pytest.approx([3, 300, 0.5, 0.0])
    assert counts.sums_per_kind.sum() == pytest.approx(351.5 + 0.5)
    assert (counts.computing_s, counts.is_up) == (pytest.approx(7.0), True)
    assert [rank.collectives for rank in trace.ranks] == [5, 5]


def test_counters_never_go_back_while_the_clock_becomes_better_known(tmp_path: Path) -> None:
    rank = Rank(tmp_path, 0, size=1)
    rank.count(COUNTED, last_steady_ns=int(10.1e9))
    trace = watched(tmp_path)
    before = trace.counts()[0].sums_per_kind
    rank.count(COUNTED)
    trace.look()
    assert (trace.counts()[0].sums_per_kind >= before).all()


def test_a_rank_that_has_ended_no_call(tmp_path: Path) -> None:
    Rank(tmp_path, 0, size=1).count({})
    (counts,) = watched(tmp_path).counts()
    assert counts.sums_per_kind.tolist() == [[0.0] * len(KINDS)] * 4


def test_routed_collectives_by_operation_and_way(tmp_path: Path) -> None:
    calls = ["allreduce native", "allreduce shared-memory", ""]
    for number in range(2):
        rank = Rank(tmp_path, number, version=6, calls=calls)
        counted = {(at, COLLECTIVE): (at + 2, 40, 2.0, 1.5) for at in range(2)}
        rank.count(counted, version=6, collectives=5, saved_ns=1_500_000_000)
    trace = watched(tmp_path)
    (counts, _) = trace.counts()
    assert trace.ranks[0].is_routed
    assert {name: sums[0] for name, sums in counts.sums_per_way.items()} == {
        "allreduce native": 2,
        "allreduce shared-memory": 3,
    }
    assert counts.saved_s == pytest.approx(1.5)
    took = "5 collectives per rank take 100 % of the time"
    assert ways_line([counts]) == f"{took}: 60 % shared-memory, 40 % native; 2 s saved"
    assert ways_line([]) == ""


def test_files_are_closed_with_the_watch(tmp_path: Path) -> None:
    for number in range(2):
        Rank(tmp_path, number).count(COUNTED)
    before = len(os.listdir("/proc/self/fd"))
    trace = watched(tmp_path)
    trace.look()
    assert len(os.listdir("/proc/self/fd")) == before + 2
    del trace
    gc.collect()
    assert len(os.listdir("/proc/self/fd")) == before


def test_ranks_of_other_hosts_are_silent_until_one_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [100.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now_s[0])
    rank = Rank(tmp_path, 0, size=1, host="elsewhere")
    rank.count(COUNTED)
    trace = watched(tmp_path)
    now_s[0] += 50
    trace.look()
    assert (trace.state, trace.silent_s) == (RUNNING, 50)
    rank.count(COUNTED, elapsed_s=11.0)
    trace.look()
    assert trace.silent_s == 0


def test_a_rank_that_runs_here_may_compute_for_as_long_as_it_likes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    now_s = [100.0]
    monkeypatch.setattr(live.time, "monotonic", lambda: now_s[0])
    Rank(tmp_path, 0, size=1).count(COUNTED)
    trace = watched(tmp_path)
    now_s[0] += 1e6
    assert (trace.state, trace.silent_s) == (RUNNING, 0)


def test_nothing_is_there_yet(tmp_path: Path) -> None:
    trace = watched(tmp_path / "none")
    assert (trace.ranks, trace.size, trace.state, trace.counts()) == ([], 0, RUNNING, [])


def test_ranks_come_one_by_one(tmp_path: Path) -> None:
    trace = watched(tmp_path)
    rank, other = Rank(tmp_path, 0), Rank(tmp_path, 1)
    other.begin()
    rank.begin()
    trace.look()
    assert trace.ranks == []
    rank.introduce()
    trace.look()
    assert [rank.process.rank for rank in trace.ranks] == [0]
    assert trace.counts() == []
    rank.count(COUNTED)
    other.count(COUNTED)
    trace.look()
    assert [counts.rank for counts in trace.counts()] == [0, 1]


def test_a_file_that_is_just_made_or_damaged_is_read_later(tmp_path: Path) -> None:
    rank = Rank(tmp_path, 0, size=1)
    rank.introduce()
    file = rank.stem.with_name(f"{rank.stem.name}-0.counts")
    trace = watched(tmp_path)
    for content in (b"", b"\0" * HEAD_BYTES, b"\0" * (SITES_AT + 8192), os.urandom(9000)):
        file.write_bytes(content)
        trace.look()
        assert trace.counts() == []
    rank.count(COUNTED)
    trace.look()
    whole = trace.counts()
    file.write_bytes(file.read_bytes()[:-100])
    trace.look()
    assert [counts.sums_per_kind.tolist() for counts in trace.counts()] == [
        whole[0].sums_per_kind.tolist()
    ]


def test_it_ends_when_all_ranks_have_finished(tmp_path: Path) -> None:
    ranks = [Rank(tmp_path, number, pid=ended()) for number in range(2)]
    ranks[0].count(COUNTED, finished=1)
    ranks[1].count(COUNTED)
    assert watched(tmp_path).state == KILLED
    ranks[1].count(COUNTED, finished=1)
    trace = watched(tmp_path)
    assert trace.state == FINISHED
    assert [counts.is_up for counts in trace.counts()] == [False, False]


def test_it_runs_while_one_of_them_does(tmp_path: Path) -> None:
    Rank(tmp_path, 0, pid=ended()).count(COUNTED)
    Rank(tmp_path, 1).count(COUNTED)
    trace = watched(tmp_path)
    assert trace.state == RUNNING
    assert [counts.is_up for counts in trace.counts()] == [False, True]


def test_another_process_with_the_number_is_not_the_rank(tmp_path: Path) -> None:
    Rank(tmp_path, 0, size=1).count(COUNTED)
    trace = watched(tmp_path)
    trace.ranks[0].began = "17"
    trace.look()
    assert trace.state == KILLED


def test_ranks_elsewhere_run_until_the_trace_is_made(tmp_path: Path) -> None:
    for number in range(2):
        Rank(tmp_path, number, host="elsewhere", pid=ended()).count(COUNTED)
    trace = watched(tmp_path)
    assert trace.state == RUNNING
    (tmp_path / DESCRIPTION).write_text("{}")
    trace.look()
    assert trace.state == KILLED


def test_of_several_programs_the_last_is_watched_to_its_end(tmp_path: Path) -> None:
    Rank(tmp_path, 0, size=1, ready_ns=1, launch="hydra 1").count(COUNTED, finished=1)
    later = Rank(tmp_path, 1, size=1, ready_ns=2, launch="hydra 2")
    later.first["rank"] = 0
    later.count(COUNTED)
    trace = watched(tmp_path)
    assert [rank.process.launch for rank in trace.ranks] == ["hydra 2"]
    Rank(tmp_path, 2, size=1, ready_ns=3, launch="hydra 3").count(COUNTED)
    trace.look()
    assert [rank.process.launch for rank in trace.ranks] == ["hydra 2"]


def test_files_of_format_4_have_no_collectives(tmp_path: Path) -> None:
    Rank(tmp_path, 0, size=1, version=4).count(COUNTED, version=4)
    trace = watched(tmp_path)
    assert trace.ranks[0].collectives == 0
    assert trace.counts()[0].sums_per_kind[0, COLLECTIVE] == 5


def test_in_virtual_time_a_tick_is_a_picosecond(tmp_path: Path) -> None:
    virtual = {"machine": "sp2-mpl", "nodes": [3]}
    rank = Rank(tmp_path, 0, size=1, virtual=virtual)
    rank.count(COUNTED)
    (counts,) = watched(tmp_path).counts()
    assert counts.host == "node3"
    assert counts.sums_per_kind[2, COLLECTIVE] == pytest.approx(2.0 * TICKS_PER_S * 1e-12)
