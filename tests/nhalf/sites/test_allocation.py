"""The hosts of an allocation, from the variables of each batch system."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.sites import allocation as module
from nhalf.sites.allocation import allocation, idle_hosts


def found(variables: dict[str, str]) -> tuple[list[str], str]:
    given = allocation(variables)
    assert given is not None
    return [str(host) for host in given.hosts], given.source


def test_outside_of_a_job() -> None:
    assert allocation({}) is None
    assert allocation({"SLURM_CONF": "/etc/slurm.conf", "PBS_NODEFILE": ""}) is None


@pytest.mark.parametrize(
    ("cores", "expected"),
    [
        ({"SLURM_JOB_CPUS_PER_NODE": "4(x2),2"}, ["n1:4", "n2:4", "n3:2"]),
        ({"SLURM_TASKS_PER_NODE": "1,2(x2)"}, ["n1:1", "n2:2", "n3:2"]),
        ({"SLURM_JOB_CPUS_PER_NODE": "4"}, ["n1", "n2", "n3"]),
        ({}, ["n1", "n2", "n3"]),
    ],
)
def test_slurm(cores: dict[str, str], expected: list[str]) -> None:
    job = {"SLURM_JOB_NODELIST": "n[1-3]", "SLURM_JOB_ID": "12", **cores}
    assert found(job) == (expected, "Slurm job 12")


def test_pbs_has_a_line_for_each_core(tmp_path: Path) -> None:
    (tmp_path / "nodes").write_text("n1\nn1\nn2\nn2\n")
    job = {"PBS_NODEFILE": str(tmp_path / "nodes"), "PBS_JOBID": "7.head"}
    assert found(job) == (["n1:2", "n2:2"], "PBS job 7.head")


def test_lsf() -> None:
    job = {"LSB_MCPU_HOSTS": "n1 4 n2 4", "LSB_JOBID": "3"}
    assert found(job) == (["n1:4", "n2:4"], "LSF job 3")


def test_grid_engine(tmp_path: Path) -> None:
    (tmp_path / "hosts").write_text("n1 4 all.q@n1 UNDEFINED\nn2 2 all.q@n2 UNDEFINED\n")
    job = {"PE_HOSTFILE": str(tmp_path / "hosts"), "JOB_ID": "5"}
    assert found(job) == (["n1:4", "n2:2"], "Grid Engine job 5")


def test_a_job_whose_words_cannot_be_read() -> None:
    with pytest.raises(InputError):
        allocation({"SLURM_JOB_NODELIST": "n[1-"})


def test_no_slurm_at_all(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module.shutil, "which", lambda _: None)
    with pytest.raises(MissingError, match="no Slurm here"):
        idle_hosts()


def test_a_slurm_that_does_not_answer(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    sinfo = tmp_path / "sinfo"
    sinfo.write_text("#!/bin/sh\necho 'cannot contact slurmctld' >&2; exit 1\n")
    sinfo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    with pytest.raises(MissingError, match="cannot contact"):
        idle_hosts()


def test_idle_hosts_are_those_of_the_default_partition(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    sinfo = tmp_path / "sinfo"
    sinfo.write_text("#!/bin/sh\nprintf 'n1 4 all*\\nn2 8 all*\\nfat 96 big\\n'\n")
    sinfo.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    assert [str(host) for host in idle_hosts().hosts] == ["n1:4", "n2:8"]
