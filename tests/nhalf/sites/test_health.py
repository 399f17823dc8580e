"""Who is to blame for a launch that failed.

Short commands on many hosts.
"""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from nhalf.base.processes import ProgramOutcome
from nhalf.sites import health
from nhalf.sites.health import SILENT, Examiner, ask, unreachable_hosts

FOUR = Examiner(("n1", "n2", "n3", "n10.cluster"))


def rank(number: int, host: str, pid: int) -> dict[str, Any]:
    return {"rank": number, "host": host, "pid": pid}


class TestWhatLaunchersSay:
    @pytest.mark.parametrize(
        ("words", "named"),
        [
            (["srun: error: n2: task 1: Killed", "srun: error: n1: task 0: Killed"], "n2"),
            (["=   RANK 1 PID 7236 RUNNING AT n3", "=   KILLED BY SIGNAL: 9 (Killed)"], "n3"),
            (
                [
                    "[n1:00000] *** and MPI will try to terminate your MPI job as well)",
                    "prterun noticed that process rank 1 with PID 16198 on node n2 exited on",
                ],
                "n2",
            ),
            (["Local host: n1", "Peer host:  n2"], "n2"),
            (["srun: error: n1: task 0: Exited with exit code 1"], "n1"),
            (["srun: error: n10: task 0: Segmentation fault"], "n10.cluster"),
        ],
    )
    def test_a_rank_that_ended(self, words: Sequence[str], named: str) -> None:
        found = FOUR.diagnose_messages(words)
        assert named in found.text
        assert not found.dead

    def test_one_that_brings_another_down(self) -> None:
        killed, crashed = "n3: task 2: Killed", "n1: task 0: Segmentation fault"
        rest = ["srun: Terminating StepId=1.0", "n2: task 1: Killed"]
        assert FOUR.diagnose_messages([crashed, killed, *rest]).text == f"{crashed}; {killed}"
        assert FOUR.diagnose_messages([killed, *rest]).text == killed
        assert FOUR.diagnose_messages(["srun: Job step aborted", killed, crashed]).text == killed

    @pytest.mark.parametrize(
        ("line", "named"),
        [
            ("salloc: error: Node failure on n2", "n2"),
            ("srun: error: Task launch for StepId=3.0 failed on node n3: Socket timed out", "n3"),
            ("ssh: connect to host n1 port 22: No route to host", "n1"),
            ("ssh: Could not resolve hostname n10: unknown", "n10.cluster"),
        ],
    )
    def test_a_host_that_is_lost(self, line: str, named: str) -> None:
        found = FOUR.diagnose_messages(["srun: error: n1: task 0: Killed", line])
        assert list(found.dead) == [named]
        assert line in found.text

    @pytest.mark.parametrize(
        "words",
        [
            [],
            ["everything is well on n1"],
            ["n1 and n2: Killed"],
            ["Killed"],
            ["srun: error: n11: task 0: Killed", "n1-old: Killed", "a.n1: Killed"],
        ],
    )
    def test_nobody_is_named(self, words: Sequence[str]) -> None:
        assert FOUR.diagnose_messages(words) == health.Diagnosis()

    def test_nobody_can_be_named_on_one_machine(self) -> None:
        assert (
            Examiner().diagnose_messages(["srun: error: n1: task 0: Killed"]) == health.Diagnosis()
        )


class TestAsked:
    """What hosts answer is written by hand here; the lab's tests ask real ones."""

    @staticmethod
    def answers(monkeypatch: pytest.MonkeyPatch, states: Mapping[str, str | None]) -> None:
        def ask(commands: Mapping[str, Sequence[str]]) -> dict[str, ProgramOutcome]:
            return {
                host: ProgramOutcome(0, said, "") if (said := states[host]) is not None
                else ProgramOutcome(None, "", "", "no answer")
                for host in commands
            }  # fmt: skip

        monkeypatch.setattr(health, "ask", ask)

    def test_a_host_that_is_silent(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers(monkeypatch, {"n1": "7 (probe) R 1\n", "n2": None})
        found = Examiner(("n1", "n2")).diagnose([rank(0, "n1", 7), rank(1, "n2", 8)], [])
        assert found.dead == {"n2": SILENT}
        assert found.text == "n2 does not answer any more"

    def test_all_are_silent_so_asking_is_at_fault(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers(monkeypatch, {"n1": None, "n2": None})
        assert Examiner(("n1", "n2")).diagnose([], []) == health.Diagnosis()

    def test_a_rank_that_is_stopped_and_one_that_is_gone(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.answers(monkeypatch, {"n1": "7 (a) T) T 1\n", "n2": "8\n9 (probe) R 1\n"})
        ranks = [rank(0, "n1.cluster", 7), rank(1, "n2", 8), rank(2, "n2", 9)]
        found = Examiner(("n1", "n2")).diagnose(ranks, [])
        assert found.text == (
            "rank 0 on n1.cluster (process 7) is stopped, rank 1 on n2 (process 8) is gone"
        )
        assert not found.dead

    def test_all_is_well_so_the_launcher_has_the_word(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        self.answers(monkeypatch, {"n1": "7 (probe) R 1\n"})
        ranks = [rank(0, "n1", 7)]
        assert Examiner(("n1",)).diagnose(ranks, []) == health.Diagnosis()
        assert "n1" in Examiner(("n1",)).diagnose(ranks, ["n1: task 0: Killed"]).text

    def test_those_that_do_not_answer(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.answers(monkeypatch, {"n1": "", "n2": None})
        assert unreachable_hosts(["n1", "n2"]) == ["n2"]
        assert unreachable_hosts([]) == []


class TestOnThisMachine:
    @pytest.fixture
    def sleeper(self) -> Iterator[subprocess.Popen[bytes]]:
        process = subprocess.Popen(["sleep", "1000"])
        yield process
        process.kill()
        process.wait()

    def test_a_process_that_is_stopped(self, sleeper: subprocess.Popen[bytes]) -> None:
        ranks = [rank(0, "here", os.getpid()), rank(1, "here", sleeper.pid)]
        assert Examiner().diagnose(ranks, []) == health.Diagnosis()
        sleeper.send_signal(signal.SIGSTOP)
        os.waitid(os.P_PID, sleeper.pid, os.WSTOPPED)
        expected = f"rank 1 on here (process {sleeper.pid}) is stopped"
        assert Examiner().diagnose(ranks, []).text == expected
        sleeper.kill()
        os.waitid(os.P_PID, sleeper.pid, os.WEXITED | os.WNOWAIT)
        assert Examiner().diagnose(ranks, []).text.endswith("is gone")


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
