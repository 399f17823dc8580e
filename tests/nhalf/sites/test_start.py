"""What starts a program on a library, and what is said where it cannot or did not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from nhalf.base.errors import MissingError
from nhalf.mpi import Library
from nhalf.sites.launchers import srun
from nhalf.sites.launchers.srun import Offer
from nhalf.sites.start import Spread, several_worlds, start

LIBRARY = Library(
    *("mpich-5.0.2", "mpich", "5.0.2"),
    *(Path("/nowhere"), Path("/nowhere/bin/mpiexec"), "hydra", True, None, "wheel"),
    vendor_title="MPICH",
)


@pytest.mark.parametrize(
    ("worlds", "ranks", "expected"),
    [
        ([1, 1, 1, 1], 4, "4 worlds of one rank instead of one world of 4"),
        ([1], 2, "worlds of one rank instead of one world of 2"),
        ([2, 2], 4, "2 worlds of 2 ranks instead of one world of 4"),
    ],
)
def test_several_worlds_are_counted(
    worlds: list[int], ranks: int, expected: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SLURM_MPI_TYPE", "none")
    monkeypatch.setattr(srun, "offer", lambda: Offer(("none", "pmi2")))
    assert str(several_worlds(LIBRARY, worlds, ranks, "srun")) == (
        f"srun --mpi=none started {expected}: MPICH 5.0.2 (wheel) and srun speak different process "
        "management; choose pmi2 with SLURM_MPI_TYPE, or use --launcher mpirun"
    )
    own = str(several_worlds(LIBRARY, worlds, ranks))
    assert own.startswith(f"hydra started {expected}: the program does not run on MPICH 5.0.2")


def test_an_mpiexec_that_is_gone_or_cannot_be_executed_is_one_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "mpiexec"
    library = replace(LIBRARY, mpiexec=path)
    with pytest.raises(MissingError, match=f"mpich-5.0.2 has no mpiexec: {path} is not there any"):
        start(library, ["probe"], 2)
    path.write_text("#!/bin/sh\n")
    with pytest.raises(MissingError, match=f"mpich-5.0.2 has no mpiexec: {path} cannot be exec"):
        start(library, ["probe"], 2)
    path.chmod(0o755)
    assert start(library, ["probe"], 2).command[0] == str(path)
    path.unlink()
    monkeypatch.setattr(srun, "offer", lambda: Offer(("none", "pmi2")))
    assert "--mpi=pmi2" in start(library, ["probe"], 2, spread=Spread(launcher="srun")).command
