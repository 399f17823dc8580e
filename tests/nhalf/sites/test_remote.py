"""Short commands on many hosts."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.sites.remote import ask

WORDS = ["sh", "-c", 'echo "$@"', "sh", "a b", "it's"]


@pytest.fixture
def stub(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder for programs, alone in PATH beside the system's."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    return tmp_path


def program(folder: Path, name: str, body: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{body}\n")
    path.chmod(0o755)


def test_this_machine() -> None:
    outcomes = ask({"": WORDS})
    assert outcomes[""].stdout == "a b it's\n"


def test_nobody() -> None:
    assert ask({}) == {}


def test_ssh_gets_the_words_as_they_are(stub: Path) -> None:
    # What sshd does with the last argument: a shell reads it.
    program(stub, "ssh", 'for last; do :; done; echo "$6"; eval "$last"')
    outcome = ask({"n1": WORDS})["n1"]
    assert outcome.stdout == "n1\na b it's\n"


def test_in_a_job_srun_goes_beside_the_ranks(stub: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SLURM_JOB_ID", "12")
    program(stub, "srun", 'echo "$@"')
    said = ask({"n1": ["true"], "n2": ["true"]})
    assert said["n2"].stdout.split() == [
        "--quiet", "--overlap", "--mpi=none", "--nodes=1", "--ntasks=1", "--nodelist=n2", "true",
    ]  # fmt: skip


def test_a_host_that_takes_too_long(stub: Path) -> None:
    program(stub, "ssh", "sleep 1000")
    outcome = ask({"n1": ["true"]}, timeout_s=0.2)["n1"]
    assert outcome.exit_code is None


def test_no_way_there(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.delenv("SLURM_JOB_ID", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    assert ask({"n1": ["true"]}) == {}
