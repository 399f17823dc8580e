"""Every study that is listed measures something here as it is listed, with nothing to add."""

from __future__ import annotations

import functools
from dataclasses import dataclass

import msgspec
import pytest

from nhalf.base.errors import MissingError
from nhalf.jobs.request import RunRequest
from nhalf.measure.loop.session import checked, prepare_probes
from nhalf.measure.plan import catalogue
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.planning import plan_of
from nhalf.measure.plan.state import RunState
from nhalf.measure.probe.subject import transport_file
from nhalf.mpi.discover import libraries
from nhalf.sites.hosts import Host
from nhalf.sites.placement import FREE
from nhalf.sites.site import Site
from tests.probes import is_built

ALL = "all"
HERE = Site((Host("here", 2),))
WITH_ABI = [library for library in libraries() if library.abi]
ROWS = {
    "memory": {
        "threads": {"memory-triad", "array-triad", "sdes-dpt", "sdes-ddt", "sdes"},
        "shm": {"array-copy", "array-triad", "sdes-dpt", "sdes-ddt", "sdes"},
        "mpi": {"memory-copy", "memory-triad"},
    },
    "remote-memory": {
        "shm": {"flag-pingpong", "put-pingpong", "put-signal", "primitive", "copy"},
        "rma": {"put-pingpong", "put", "get", "primitive"},
        "threads": {"flag-pingpong", "put-watched", "mapped-pingpong"},
    },
    "layers": {
        transport: {"pingpong", "one-to-many", "barrier"} for transport in ("mpi", "shmq", "am")
    },
    "logp": {"mpi": {"gap", "overhead-send", "overhead-recv"}},
    "p2p": {"mpi": {"pingpong", "stream", "exchange", "pairs-latency", "one-to-many"}},
    "noise": {"mpi": {"interruptions", "pingpong"}},
    "traffic": {"mpi": {"traffic"}},
    "beff": {"mpi": {"ring"}},
}
"""Patterns that a study is named for, by the transport that has to measure them."""


pytestmark = [
    pytest.mark.skipif(not WITH_ABI, reason="no MPI library here: nhalf mpi install mpich"),
    pytest.mark.skipif(not is_built("probe-mpi-abi"), reason="the probes are not built"),
]


@dataclass(frozen=True)
class Asked:
    """Patterns by transport, and the libraries that are measured."""

    patterns: dict[str, set[str]]
    libraries: set[str]


@functools.cache
def asked_by(study: str, mpi: str) -> Asked:
    """What a study asks for of libraries; transports that are compiled here are left out."""
    given = frozenset({"mpi"} if mpi != ALL else ())
    plan = plan_of(RunRequest(study=study, mpi=mpi, given=given), HERE)
    transports = [name for name in plan.transports if not transport_file(name).links]
    names = [library.name for library in WITH_ABI]
    plan = msgspec.structs.replace(
        plan, transports=transports, mpi=names if mpi == ALL else plan.mpi
    )
    prepare_probes(plan)
    plan, subjects, _ = checked(plan)
    agenda = Agenda(plan, subjects, RunState(placement=FREE))
    patterns: dict[str, set[str]] = {}
    by_key = {subject.key: subject for subject in subjects}
    for start in agenda.starts():
        asked = {point.pattern for point in agenda.points(start)}
        patterns.setdefault(by_key[start.subject].transport, set()).update(asked)
    return Asked(patterns, {subject.mpi for subject in subjects if subject.mpi})


@pytest.mark.parametrize("study", catalogue.names())
def test_it_measures_something_as_listed(study: str) -> None:
    try:
        patterns = asked_by(study, WITH_ABI[0].name).patterns
    except MissingError as error:
        pytest.fail(f"{study}: {error}")
    assert any(patterns.values())
    for transport, wanted in ROWS.get(study, {}).items():
        assert wanted <= patterns[transport], transport


@pytest.mark.skipif(len(WITH_ABI) < 2, reason="needs two libraries")
@pytest.mark.parametrize("study", ["memory", "remote-memory", "quick"])
def test_memory_is_measured_by_one_library_and_messages_by_all(study: str) -> None:
    names = {library.name for library in WITH_ABI}
    expected = 1 if study.endswith("memory") else len(names)
    assert len(asked_by(study, ALL).libraries) == expected
    assert asked_by(study, ",".join(sorted(names))).libraries == names


def test_puts_of_less_than_a_line_and_of_a_whole_one_stay_where_sizes_are_left_out() -> None:
    blocks = catalogue.study("remote-memory", 2).blocks
    sizes = [block.sizes_on(2).size_bytes for block in blocks if "put-stream" in block.patterns]
    assert any(first < 64 == last for first, *_, last in sizes), "the ends of a list always stay"


def test_short_messages_are_measured_under_load() -> None:
    loaded = [b for b in catalogue.study("p2p", 8).blocks if "pairs-latency" in b.patterns]
    assert {16, 32} <= {size for block in loaded for size in block.sizes_on(8).size_bytes}


def test_without_any_library_threads_are_measured(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("nhalf.mpi.discover.libraries", lambda *_: [])
    plan = plan_of(RunRequest(study="memory"), HERE)
    prepare_probes(plan)
    plan, subjects, failed = checked(plan)
    assert [subject.transport for subject in subjects] == ["threads"]
    assert failed.keys() == {"mpi", "shm"}
    assert all("nhalf mpi install" in reason for reason in failed.values())
