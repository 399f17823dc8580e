"""Lists of hosts and host files.

The hosts of an allocation, from the variables of each batch system.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import ClassVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.base.errors import InputError, MissingError
from nhalf.sites import hosts as module
from nhalf.sites.hosts import Host, allocation, idle_hosts, parse_hosts, read_host_file, short_name


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("a", ["a"]),
        ("a,b:4", ["a", "b:4"]),
        ("n[1-3,7]", ["n1", "n2", "n3", "n7"]),
        ("n[3,1-2]", ["n3", "n1", "n2"]),
        ("n[08-11]", ["n08", "n09", "n10", "n11"]),
        ("r[1-2]n[1-2]:8", ["r1n1:8", "r1n2:8", "r2n1:8", "r2n2:8"]),
        ("a,n[1,3]-ib.cluster,b", ["a", "n1-ib.cluster", "n3-ib.cluster", "b"]),
        ("a:2,b,a:2", ["a:4", "b"]),
    ],
)
def test_lists(text: str, expected: list[str]) -> None:
    assert list(map(str, parse_hosts(text))) == expected


@pytest.mark.parametrize(
    "text",
    ["", ",", "a,", ",a", "a,,b", "n[1-3", "n]1[", "n[3-1]", "n[a-b]", "n[]", "n[1-]", "a b",
     "a:0", "a:x", "a:-1", "n[1-99999999999]", "n[0-999]m[0-999]", "-a", "a;rm", "n[[1]]"],
)  # fmt: skip
def test_what_is_no_list(text: str) -> None:
    with pytest.raises(InputError):
        parse_hosts(text)


@given(st.text(alphabet="an1[]-,: .", max_size=12))
def test_any_text_is_a_list_or_an_error(text: str) -> None:
    try:
        hosts = parse_hosts(text)
    except InputError:
        return
    assert parse_hosts(",".join(map(str, hosts))) == hosts


def test_host_files_of_each_kind(tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text("# all\nn1\nn1\n\nn2:4 # Hydra\nn3 slots=8 max_slots=9\nn4 2\nn[5-6]\n")
    assert read_host_file(path) == [
        Host("n1", 2), Host("n2", 4), Host("n3", 8), Host("n4", 2), Host("n5", 1), Host("n6", 1),
    ]  # fmt: skip


@pytest.mark.parametrize("content", [b"", b"# nothing\n", b"a b[\nn[\n", b"\xff\xfe\x00"])
def test_bad_host_files(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "hosts"
    path.write_bytes(content)
    with pytest.raises(InputError, match="hosts"):
        read_host_file(path)


def test_a_host_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_host_file(tmp_path / "none")


def test_names_without_domain() -> None:
    assert short_name("n1.cluster.example") == short_name("n1") == "n1"


@pytest.mark.parametrize(
    "line",
    ["rank 0=alpha slot=0", "rank 1=beta slot=0:1", "rank  10 = n1 slots=0-3", "RANK 0=+n0 slot=1"],
)
def test_a_rank_file_is_no_host_file(line: str, tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(f"# a comment\n{line}\n")
    with pytest.raises(InputError, match=r"line 2: this is a rank file.*--placement"):
        read_host_file(path)


@pytest.mark.parametrize(
    ("line", "host"),
    [
        ("n1 slots=4 max-slots=8", "n1:4"),
        ("n1 max_slots=8 slots=4", "n1:4"),
        ("n1 max-slots=8", "n1:8"),
        ("n1 slots = 4", "n1:4"),
        ("n1 cpu=2", "n1:2"),
        ("n1 np=3 batch", "n1:3"),
        ("n1:4 ifhn=n1-ib", "n1:4"),
        ("rank", "rank:1"),
        ("rank1 slots=2", "rank1:2"),
    ],
)
def test_slots_are_read_in_the_words_of_each_launcher(line: str, host: str, tmp_path: Path) -> None:
    path = tmp_path / "hosts"
    path.write_text(f"{line}\n")
    assert list(map(str, read_host_file(path))) == [host]


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


class TestFlux:
    """The hosts of the instance of Flux in which this process runs."""

    INSTANCE: ClassVar[dict[str, str]] = {"FLUX_URI": "local:///x", "FLUX_ENCLOSING_ID": "f7"}

    @pytest.mark.parametrize(
        ("text", "hosts"),
        [
            (
                """{"execution": {"R_lite": [{"rank": "0-1,3", "children": {"core": "0-3,8"}},
                {"rank": "2", "children": {}}], "nodelist": ["n[1-2]", "m[07-08]"]}}""",
                ["n1:5", "n2:5", "m07", "m08:5"],
            ),
            (
                """{"execution": {"R_lite": [{"rank": "0-1", "children": {"core": "0"}}],
                "nodelist": ["n1,n1"]}}""",
                ["n1:2"],
            ),
        ],
    )
    def test_are_those_of_its_resources(
        self, text: str, hosts: list[str], flux: Callable[[str], None]
    ) -> None:
        flux(f"[ \"$1 $2\" = 'resource R' ] && echo '{text}'")
        allocated = allocation(self.INSTANCE)
        assert allocated is not None
        assert (list(map(str, allocated.hosts)), allocated.source) == (hosts, "Flux job f7")

    @pytest.mark.parametrize("text", ["", "[]", '{"execution": {}}', '{"execution": 0}', "{"])
    def test_that_cannot_be_read(self, text: str, flux: Callable[[str], None]) -> None:
        flux(f"echo '{text}'")
        with pytest.raises(InputError, match="flux resource R cannot be read"):
            allocation(self.INSTANCE)

    def test_without_an_answer(self, flux: Callable[[str], None]) -> None:
        flux("echo 'flux-resource: ERROR: broken' >&2; exit 1")
        with pytest.raises(MissingError, match="broken"):
            allocation(self.INSTANCE)

    def test_a_single_task_has_no_others(self) -> None:
        assert allocation({**self.INSTANCE, "FLUX_JOB_ID": "f8"}) is None


@pytest.fixture
def flux(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Makes a command flux of a shell script, first in PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def make(script: str) -> None:
        (tmp_path / "flux").write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / "flux").chmod(0o755)

    return make
