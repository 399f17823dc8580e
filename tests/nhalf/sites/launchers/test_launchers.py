"""What whatever starts ranks must do, whether a library's own or not."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.mpi.job import Launcher, MpiJob
from nhalf.mpi.vendors import vendors
from nhalf.sites.launchers import check_is_here, check_launcher, launchers, notice
from nhalf.sites.launchers import srun as module
from nhalf.sites.launchers.srun import Offer

EVERY: dict[str, Launcher] = {**{name: kind() for name, kind in launchers().items()}, **vendors()}
JOB = MpiJob(
    command=("./probe", "--ranks", "a b"),
    ranks=4,
    mpiexec=Path("/opt/mpi/bin/mpiexec"),
    environment={"LD_LIBRARY_PATH": "/opt/mpi/lib"},
)
COMMAND = "./probe --ranks a b"


def test_the_known_launchers() -> None:
    assert {"flux", "hydra", "openmpi", "srun"} <= set(launchers())


@pytest.mark.parametrize("driver", EVERY.values(), ids=list(EVERY))
class TestEvery:
    def test_ends_with_the_command_word_by_word(self, driver: Launcher) -> None:
        assert driver.tokens(JOB)[-3:] == ["./probe", "--ranks", "a b"]

    def test_says_what_it_is(self, driver: Launcher) -> None:
        assert len(driver.description.split()) > 2

    def test_is_pure(self, driver: Launcher) -> None:
        before = repr(JOB)
        assert driver.tokens(JOB) == driver.tokens(JOB)
        driver.environment(JOB)["ADDED"] = "1"
        assert repr(JOB) == before

    @pytest.mark.parametrize("as_root", [False, True])
    @pytest.mark.parametrize("bind", [False, True])
    def test_the_jobs_own_variables_come_last(
        self, driver: Launcher, bind: bool, as_root: bool
    ) -> None:
        own = {"I_MPI_PIN": "mine", "OMPI_ALLOW_RUN_AS_ROOT": "mine", "X": "1"}
        job = replace(JOB, environment=own, bind=bind, as_root=as_root)
        assert own.items() <= driver.environment(job).items()

    def test_gives_the_number_of_ranks(self, driver: Launcher) -> None:
        assert any(word in {"4", "--ntasks=4"} for word in driver.tokens(JOB))


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {},
            "srun --ntasks=4 --input=0 --kill-on-bad-exit=1 --quiet --overlap --cpu-bind=cores "
            f"--cpus-per-task=1 {COMMAND}",
        ),
        (
            {"bind": False, "oversubscribe": True, "hosts": ("a", "b"), "pmi": "pmi2"},
            "srun --ntasks=4 --input=0 --kill-on-bad-exit=1 --quiet --overlap --mpi=pmi2 "
            "--overcommit --nodes=2 --ntasks-per-node=2 --distribution=block --nodelist=a,b "
            + COMMAND,
        ),
        (
            {"bind": False, "hosts": ("a", "b", "c"), "ranks_per_host": 2, "cyclic": True},
            "srun --ntasks=4 --input=0 --kill-on-bad-exit=1 --quiet --overlap --nodes=3 "
            f"--ntasks-per-node=2 --distribution=cyclic --nodelist=a,b,c {COMMAND}",
        ),
    ],
)
def test_words_of_srun(changes: dict[str, Any], expected: str) -> None:
    assert " ".join(EVERY["srun"].tokens(replace(JOB, **changes))) == expected


@pytest.mark.parametrize(
    ("changes", "expected"),
    [
        (
            {},
            "flux run --ntasks=4 --input=0 --unbuffered --setopt=exit-on-error "
            f"--setopt=cpu-affinity=per-task {COMMAND}",
        ),
        (
            {"bind": False, "hosts": ("a", "b"), "pmi": "pmix", "cyclic": True},
            "flux run --ntasks=4 --nodes=2 --input=0 --unbuffered --setopt=exit-on-error "
            "--setopt=cpu-affinity=off --setopt=pmi=pmix --requires=hosts:a,b --taskmap=cyclic "
            + COMMAND,
        ),
        (
            {"bind": False, "oversubscribe": True, "ranks_per_host": 2, "hosts": ("a", "b")},
            "flux run --nodes=2 --tasks-per-node=2 --input=0 --unbuffered --setopt=exit-on-error "
            f"--setopt=cpu-affinity=off --requires=hosts:a,b {COMMAND}",
        ),
    ],
)
def test_words_of_flux_run(changes: dict[str, Any], expected: str) -> None:
    assert " ".join(EVERY["flux"].tokens(replace(JOB, **changes))) == expected


def test_flux_run_oversubscribes_evenly_or_not_at_all() -> None:
    job = replace(JOB, ranks=3, hosts=("a", "b"), oversubscribe=True)
    with pytest.raises(MissingError, match="cannot place 3 ranks on 2 hosts"):
        EVERY["flux"].tokens(job)
    alone = EVERY["flux"].tokens(replace(job, hosts=()))
    assert "--nodes=1" in alone and "--tasks-per-node=3" in alone


def test_flux_run_needs_its_plug_in_for_a_library_of_pmix_alone() -> None:
    flux = EVERY["flux"]
    assert flux.process_management("openmpi", ("pmix",)) == "pmix"
    assert flux.process_management("mpich", ("pmix", "pmi2")) == ""
    assert flux.process_management("unknown", ()) == ""
    assert "flux-pmix" in flux.why_separate_worlds("Open MPI 5", ("pmix",), "")[1]


@pytest.fixture
def offered(monkeypatch: pytest.MonkeyPatch) -> None:
    """An srun that offers both."""
    monkeypatch.delenv("SLURM_MPI_TYPE", raising=False)
    monkeypatch.setattr(module, "offer", lambda: Offer(("none", "pmi2", "pmix", "pmix_v4")))


@pytest.mark.usefixtures("offered")
def test_srun_takes_what_the_library_speaks(monkeypatch: pytest.MonkeyPatch) -> None:
    srun = EVERY["srun"]
    assert srun.process_management("a", ("pmix", "pmi2")) == "pmix"
    assert srun.process_management("a", ()) == ""
    with pytest.raises(MissingError, match="a speaks cray_shasta"):
        srun.process_management("a", ("cray_shasta",))
    monkeypatch.setenv("SLURM_MPI_TYPE", "none")
    assert srun.process_management("a", ("pmix", "pmi2")) == "none"


@pytest.mark.usefixtures("offered")
@pytest.mark.parametrize(
    ("speaks", "used", "choice"),
    [
        (("pmi2",), "none", "choose pmi2 with"),
        (("pmi2",), "pmi2", "choose pmix or pmix_v4 with"),
        ((), "none", "choose pmi2 or pmix or pmix_v4 with"),
    ],
)
def test_the_remedy_names_what_both_know(speaks: tuple[str, ...], used: str, choice: str) -> None:
    why, remedy = EVERY["srun"].why_separate_worlds("MPICH 5.0.2", speaks, used)
    assert why == "MPICH 5.0.2 and srun speak different process management"
    assert remedy == f"{choice} SLURM_MPI_TYPE, or use --launcher mpirun"


def test_only_a_launcher_that_cannot_be_asked_has_something_to_tell(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("SLURM_MPI_TYPE", raising=False)
    monkeypatch.setattr(module, "offer", lambda: Offer(reason="no end within 10 s"))
    assert "(no end within 10 s): Slurm's own choice is used" in notice("srun")
    assert notice("") == notice("mpirun") == notice("hydra") == ""
    monkeypatch.setenv("SLURM_MPI_TYPE", "pmi2")
    assert notice("srun") == ""


@pytest.mark.parametrize("name", ["", "mpirun", "hydra", "openmpi", "srun", "flux"])
def test_names_that_users_may_ask_for(name: str) -> None:
    check_launcher(name)


def test_an_unknown_name_is_refused_with_the_nearest() -> None:
    with pytest.raises(InputError, match="unknown launcher 'srum'; did you mean srun"):
        check_launcher("srum")


def test_a_program_that_is_not_here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for name in ("", "mpirun", "hydra"):
        check_is_here(name)  # the library's own is where the library is
    with pytest.raises(MissingError, match="srun is not found"):
        check_is_here("srun")
    (tmp_path / "srun").write_text("#!/bin/sh")
    (tmp_path / "srun").chmod(0o755)
    check_is_here("srun")
