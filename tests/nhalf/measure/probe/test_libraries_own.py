"""Sessions of MPI 4, and what libraries say of their own parameters, of libraries that are here."""

from __future__ import annotations

from typing import Any

import pytest

from nhalf.measure.probe.process import Probe
from nhalf.measure.probe.subject import library_subject
from nhalf.mpi.discover import libraries
from nhalf.mpi.transport_files import MPI
from nhalf.sites.placement import FREE
from tests.patience import patience_s

FOUND = [library for library in libraries() if library.vendor == "mpich"]
needs_mpich = pytest.mark.skipif(not FOUND, reason="no MPICH here: nhalf mpi install mpich")


@pytest.fixture(scope="module")
def mpich() -> list[dict[str, Any]]:
    """One launch: how it opens, then its answers for both parts of a session."""
    tokens, environment = library_subject(FOUND[0], MPI).launch(3, FREE, "")
    variables = {"MPIR_CVAR_BCAST_TREE_KVAL": "5", "MPIR_CVAR_OF_NOBODY": "1"}
    with Probe(tokens, {**environment, **variables}, patience_s(30)) as probe:
        answers = [probe.launch]
        for part in ("session", "session-end"):
            probe.send(f"id={part} pattern=startup axis.part={part} samples_max=2")
            answers.append(probe.receive(patience_s(20), identity=part))
    return answers


@needs_mpich
def test_a_session_has_a_communicator_of_all_ranks(mpich: list[dict[str, Any]]) -> None:
    _, begin, end = mpich
    assert begin["verified"]
    assert end["verified"]
    parts = begin["values"]
    # Each rank has two parts, and the slowest rank counts.
    assert 0 < parts["initialised_s"] + parts["communicator_s"] <= max(begin["samples_s"]) + 1e-12
    assert len(set(begin["samples_s"])) == 1
    assert min(end["samples_s"]) > 0


@needs_mpich
def test_the_library_reports_what_the_environment_sets(mpich: list[dict[str, Any]]) -> None:
    variables = mpich[0]["variables"]
    assert variables["MPIR_CVAR_BCAST_TREE_KVAL"] == "5"
    assert "MPIR_CVAR_OF_NOBODY" not in variables
    assert int(variables["MPIR_CVAR_CH3_EAGER_MAX_MSG_SIZE"]) > 0
    assert "MPIR_CVAR_IBCAST_TREE_KVAL" not in variables
