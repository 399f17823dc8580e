"""Options of the transports below and beside MPI, and what they leave behind."""

from __future__ import annotations

import os
import signal
import time
from contextlib import suppress
from pathlib import Path

import pytest

from nhalf.measure.probe.process import LaunchError
from tests.nhalf.measure.probe.test_transports import (
    FOUND,
    ONE_OF_EACH_KIND,
    is_running,
    names,
    present,
    questions,
    started,
    subject_of,
    wrong,
)
from tests.patience import patience_s

pytestmark = [
    pytest.mark.skipif(not FOUND, reason="no MPI library here: nhalf mpi install mpich openmpi"),
    pytest.mark.skipif(not names(), reason="the sources of the probes are not installed"),
]
WAYS = [
    ("ucx", "tls=tcp+self"),
    ("ucx", "tls=sysv+self"),
    ("ofi", "provider=tcp"),
    ("pvm", "route=daemon"),
]


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("tcp", "socket_bytes=65536"),
        *(pytest.param(*way, marks=pytest.mark.full) for way in WAYS),
    ],
)
def test_messages_arrive_in_every_way_there_is(name: str, options: str) -> None:
    subject = subject_of(name)
    kinds = [one for one in present(subject, 2) if one.name in ONE_OF_EACH_KIND]
    asked = [line for one in kinds for line in questions(one, 2, (0, 57, 70_000), 1)]
    assert wrong(subject, 2, asked, options) == []


@pytest.mark.parametrize(
    ("name", "options", "message"),
    [
        ("tcp", "interface=none0", "has an address on interface 'none0'"),
        pytest.param("ofi", "provider=none", "find provider 'none'", marks=pytest.mark.full),
        pytest.param("pvm", "route=none", "neither direct nor daemon", marks=pytest.mark.full),
    ],
)
def test_what_is_not_there_is_named(name: str, options: str, message: str) -> None:
    with pytest.raises(LaunchError, match=message):
        started(subject_of(name), 2, options)


def daemons_of(process: int) -> list[int]:
    """The daemons of PVM that a rank has started and that run now."""
    found = []
    for path in Path("/proc").glob("[0-9]*/stat"):
        with suppress(OSError):
            name, _, words = path.read_text().partition(") ")
            parent = int(words.split()[1])
            if "(pvmd" in name and parent == process and is_running(int(path.parent.name)):
                found.append(int(path.parent.name))
    return found


@pytest.mark.full
@pytest.mark.parametrize("victim", [None, 0, 1])
def test_pvm_leaves_no_daemon_and_has_no_files_while_ranks_run(victim: int | None) -> None:
    with started(subject_of("pvm"), 2) as probe:
        processes = [rank["pid"] for rank in probe.launch["placement"]]
        (daemon,) = daemons_of(processes[0])
        environment = Path(f"/proc/{daemon}/environ").read_text().split("\0")
        folder = next(one for one in environment if one.startswith("PVM_TMP=")).partition("=")[2]
        assert not Path(folder).exists()
        if victim is not None:
            os.kill(processes[victim], signal.SIGKILL)
    ends_s = time.monotonic() + patience_s(10)
    while is_running(daemon) and time.monotonic() < ends_s:
        time.sleep(0.1)
    assert not is_running(daemon)
