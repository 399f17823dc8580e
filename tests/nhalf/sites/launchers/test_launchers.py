# SPDX-License-Identifier: Apache-2.0
"""What every launcher must do, and the exact words of each."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nhalf.base import plugins
from nhalf.sites import launchers
from nhalf.sites.launchers import Job, Launcher

NAMES = plugins.names(launchers.__name__)
JOB = Job(
    command=("./probe", "--ranks", "a b"),
    ranks=4,
    mpiexec=Path("/opt/mpi/bin/mpiexec"),
    environment={"LD_LIBRARY_PATH": "/opt/mpi/lib"},
)


def launcher(name: str) -> Launcher:
    return plugins.load(launchers.__name__, Launcher)[name]()


def text(name: str, **changes: Any) -> str:
    return " ".join(launcher(name).tokens(replace(JOB, **changes)))


def test_the_folder_holds_the_known_launchers() -> None:
    assert {"direct", "hydra", "openmpi", "srun"} <= set(NAMES)


@pytest.mark.parametrize("name", NAMES)
class TestEveryLauncher:
    def test_ends_with_the_command_word_by_word(self, name: str) -> None:
        assert launcher(name).tokens(JOB)[-3:] == ["./probe", "--ranks", "a b"]

    def test_says_what_it_is(self, name: str) -> None:
        assert len(launcher(name).what.split()) > 2

    def test_is_pure(self, name: str) -> None:
        before = repr(JOB)
        assert launcher(name).tokens(JOB) == launcher(name).tokens(JOB)
        launcher(name).environment(JOB)["ADDED"] = "1"
        assert repr(JOB) == before

    @pytest.mark.parametrize("as_root", [False, True])
    @pytest.mark.parametrize("bind", [False, True])
    def test_the_jobs_own_variables_come_last(self, name: str, bind: bool, as_root: bool) -> None:
        own = {"I_MPI_PIN": "mine", "OMPI_ALLOW_RUN_AS_ROOT": "mine", "X": "1"}
        job = replace(JOB, environment=own, bind=bind, as_root=as_root)
        variables = launcher(name).environment(job)
        assert own.items() <= variables.items()

    def test_gives_the_number_of_ranks(self, name: str) -> None:
        if name == "direct":
            assert launcher(name).tokens(JOB) == list(JOB.command)
        else:
            assert any(word in {"4", "--ntasks=4"} for word in launcher(name).tokens(JOB))


COMMAND = "./probe --ranks a b"
MPIEXEC = "/opt/mpi/bin/mpiexec"


@pytest.mark.parametrize(
    ("name", "changes", "expected"),
    [
        ("openmpi", {}, f"{MPIEXEC} -n 4 --map-by core --bind-to core {COMMAND}"),
        ("openmpi", {"bind": False}, f"{MPIEXEC} -n 4 --map-by core --bind-to none {COMMAND}"),
        (
            "openmpi",
            {"oversubscribe": True},
            f"{MPIEXEC} -n 4 --map-by core:OVERSUBSCRIBE --bind-to core:overload-allowed {COMMAND}",
        ),
        (
            "openmpi",
            {"oversubscribe": True, "bind": False},
            f"{MPIEXEC} -n 4 --map-by core:OVERSUBSCRIBE --bind-to none {COMMAND}",
        ),
        (
            "openmpi",
            {"hosts": ("a", "b", "c")},
            f"{MPIEXEC} -n 4 --host a:2,b:2,c:2 -x LD_LIBRARY_PATH --map-by slot --bind-to core "
            f"{COMMAND}",
        ),
        (
            "openmpi",
            {"hosts": ("a", "b"), "cyclic": True, "oversubscribe": True, "bind": False},
            f"{MPIEXEC} -n 4 --host a:2,b:2 -x LD_LIBRARY_PATH --map-by node:OVERSUBSCRIBE "
            f"--bind-to none {COMMAND}",
        ),
        ("openmpi", {"mpiexec": None}, f"mpirun -n 4 --map-by core --bind-to core {COMMAND}"),
        ("hydra", {}, f"{MPIEXEC} -n 4 -bind-to core {COMMAND}"),
        ("hydra", {"bind": False}, f"{MPIEXEC} -n 4 -bind-to none {COMMAND}"),
        ("hydra", {"oversubscribe": True}, f"{MPIEXEC} -n 4 -bind-to core {COMMAND}"),
        (
            "hydra",
            {"hosts": ("a", "b")},
            f"{MPIEXEC} -n 4 -hosts a,b -ppn 2 -bind-to core {COMMAND}",
        ),
        (
            "hydra",
            {"hosts": ("a", "b"), "cyclic": True, "bootstrap": "slurm"},
            f"{MPIEXEC} -n 4 -hosts a,b -ppn 1 -bootstrap slurm -bind-to core {COMMAND}",
        ),
        ("hydra", {"mpiexec": None}, f"mpiexec -n 4 -bind-to core {COMMAND}"),
        (
            "srun",
            {},
            "srun --ntasks=4 --input=0 --kill-on-bad-exit=1 --quiet --overlap --cpu-bind=cores "
            f"--cpus-per-task=1 {COMMAND}",
        ),
        (
            "srun",
            {"bind": False, "oversubscribe": True, "hosts": ("a", "b"), "pmi": "pmi2"},
            "srun --ntasks=4 --input=0 --kill-on-bad-exit=1 --quiet --overlap --mpi=pmi2 "
            "--overcommit --nodes=2 --ntasks-per-node=2 --distribution=block --nodelist=a,b "
            + COMMAND,
        ),
        (
            "srun",
            {"bind": False, "hosts": ("a", "b", "c"), "ranks_per_host": 2, "cyclic": True},
            "srun --ntasks=4 --input=0 --kill-on-bad-exit=1 --quiet --overlap --nodes=3 "
            f"--ntasks-per-node=2 --distribution=cyclic --nodelist=a,b,c {COMMAND}",
        ),
        ("direct", {"ranks": 64}, COMMAND),
    ],
)
def test_words(name: str, changes: dict[str, object], expected: str) -> None:
    assert text(name, **changes) == expected


def test_open_mpi_may_run_as_root_only_when_the_user_is() -> None:
    allowed = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1"}
    assert allowed.items() <= launcher("openmpi").environment(replace(JOB, as_root=True)).items()
    assert not allowed.keys() & launcher("openmpi").environment(JOB).keys()


def test_intel_pins_by_variables() -> None:
    pinned = launcher("hydra").environment(JOB)
    assert (pinned["I_MPI_PIN"], pinned["I_MPI_PIN_DOMAIN"]) == ("1", "core")
    assert launcher("hydra").environment(replace(JOB, bind=False))["I_MPI_PIN"] == "0"
