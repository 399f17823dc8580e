"""The memory that ranks share, as the program that starts them sees it.

What is said while ranks run in virtual time.
"""

from __future__ import annotations

import os
import resource
import struct
from contextlib import suppress
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.measure.probe.process import LaunchError
from nhalf.measure.virtual.region import (
    LEAST_BYTES,
    MEMBERS_AT,
    OUTCOME_AT,
    REGION_BYTES,
    Presence,
    RankRecord,
    Region,
    Stopped,
    VirtualProgress,
)
from nhalf.measure.virtual.subject import VirtualProbe, VirtualRanks
from nhalf.mpi import Library
from nhalf.sites.health import Examiner


def test_a_region_has_its_description_and_nothing_else() -> None:
    with Region("nodes 0 1\n") as region:
        file = os.open(region.path, os.O_RDWR)
        assert os.pread(file, 11, 0) == b"nodes 0 1\n\0"
        assert region.stopped is None
        assert [member.presence for member in region.members(2)] == [Presence.ABSENT] * 2
        os.close(file)
        path = region.path
        assert path.exists()
    assert not path.exists()
    region.close()
    region.kill_ranks(2)


def test_what_ranks_write_is_read() -> None:
    with Region("") as region:
        file = os.open(region.path, os.O_RDWR)
        os.pwrite(file, struct.pack("=IIQQQQ", 4711, 2, 10**12, 3, 300, 0x301), MEMBERS_AT + 40)
        os.pwrite(file, b"deadlock: rank 0 waits: for ever\0", OUTCOME_AT + 4)
        before = region.stopped
        os.pwrite(file, struct.pack("=I", 2), OUTCOME_AT)
        member = region.members(2)[1]
        assert before is None
        assert region.stopped == Stopped("deadlock", " rank 0 waits: for ever")
        assert (member.process, member.presence, member.now_ps) == (4711, 2, 10**12)
        assert (member.messages, member.bytes) == (3, 300)
        assert (member.is_exiting, member.exit_code) == (True, 3)
        os.close(file)


@pytest.mark.parametrize(
    ("limits", "size_bytes"),
    [
        ({}, REGION_BYTES),
        ({resource.RLIMIT_AS: 4 * LEAST_BYTES}, LEAST_BYTES),
        ({resource.RLIMIT_AS: 1 << 33, resource.RLIMIT_FSIZE: 1 << 30}, 1 << 30),
        ({resource.RLIMIT_AS: 1 << 60}, REGION_BYTES),
    ],
)
def test_a_region_is_as_large_as_limits_let_it_be(
    limits: dict[int, int], size_bytes: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(resource, "getrlimit", lambda which: (limits.get(which, -1), -1))
    with Region("") as region:
        assert region.path.stat().st_size == size_bytes


@pytest.mark.parametrize(
    ("which", "option"), [(resource.RLIMIT_AS, "-v"), (resource.RLIMIT_FSIZE, "-f")]
)
def test_a_limit_that_leaves_too_little_is_named(
    which: int, option: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    limits = {which: 1 << 20}
    monkeypatch.setattr(resource, "getrlimit", lambda limit: (limits.get(limit, -1), -1))
    with pytest.raises(MissingError, match=f"to the virtual network; .*ulimit {option} unlimited"):
        Region("")


@pytest.mark.parametrize("command", [["false"], ["sh", "-c", "echo; exit 0"], ["none-such"]])
def test_a_launch_gives_its_memory_back(command: list[str]) -> None:
    library = Library("mpich-1", "mpich", "1", Path("none"), None, "hydra", True, None, "prefix")
    ranks = VirtualRanks("nodes 0 1\n", 2, library, VirtualProgress(print))
    with pytest.raises(LaunchError):
        VirtualProbe(ranks, command, {}, 20.0, Examiner())
    links = []
    for path in Path("/proc/self/fd").iterdir():
        with suppress(OSError):
            links.append(os.readlink(path))
    assert not [link for link in links if "nhalf-fabric" in link]


MEMBERS = [
    RankRecord(1, Presence.ACTIVE, 2_000_000, 3, 24),
    RankRecord(2, Presence.ACTIVE, 5_500_000, 1200, 96),
]


def test_a_line_every_few_seconds() -> None:
    said: list[str] = []
    clock = [100.0]
    progress = VirtualProgress(said.append, lambda: clock[0])
    for seconds in (1.0, 4.0, 1.0, 5.0):
        clock[0] += seconds
        progress.look(MEMBERS)
    assert said == [
        "5.5 µs virtual, 5 s real, 1203 messages",
        "5.5 µs virtual, 11 s real, 1203 messages",
    ]
