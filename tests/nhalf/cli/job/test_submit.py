"""`nhalf run --submit`: what is handed over, and what comes back."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]
pytestmark = pytest.mark.slow


class TestWhole:
    def test_it_ends_as_a_run_here_does(
        self, call: Call, cluster: Any, tmp_path: Path, submit: Call, run_words: list[str]
    ) -> None:
        here = call(*run_words, "--out", "here", "--json")
        there = submit("--out", "it's there", "--json")
        assert (there.code, there.err) == (here.code, here.err) == (0, "")
        mine, others = json.loads(here.out), json.loads(there.out)
        assert others.pop("run") == str(tmp_path / "it's there")
        assert mine.pop("run") == str(tmp_path / "here")
        assert others == mine
        ended = call("run", "--resume", "it's there", "--submit")
        assert ended.code == 0, ended.err
        assert cluster.jobs == 2
        assert "COMPLETED" in ended.err and "latency" in ended.out

    @pytest.mark.full
    def test_the_report_is_written_here(self, cluster: Any, tmp_path: Path, submit: Call) -> None:
        ended = submit("--out", "r", "--report", "--quiet")
        assert (ended.code, ended.err, ended.out) == (0, "", "")
        assert (tmp_path / "r/report.html").exists()
        assert "--report" not in (tmp_path / "r/job.sh").read_text()

    @pytest.mark.full
    def test_nobody_has_to_wait(
        self, call: Call, cluster: Any, tmp_path: Path, submit: Call
    ) -> None:
        ended = submit("--out", "r", "--no-wait", "--json")
        assert json.loads(ended.out) == {"schema": "run/1", "job": "7", "run": str(tmp_path / "r")}
        assert (ended.code, ended.err) == (0, "")
        refused = submit("--out", "r")
        refused.is_error(2, "holds a run already", f"--resume {tmp_path}/r --submit")
        later = call("run", "--resume", "r", "--submit", "--json")
        assert (later.code, later.err) == (0, "")
        assert len(json.loads(later.out)["points"]) == 2
        assert cluster.jobs == 1, "the job that is there is followed"
        shown = submit("--out", "s", "--no-wait")
        assert shown.out == f"job 7\nrun {tmp_path}/s\n"


class TestNodes:
    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(
        ("words", "nodes"),
        [
            ([], "--nodes=1"),
            (["--placement", "cores,3x2,2x1"], "--nodes=3"),
            (["--placement", "other-node"], "--nodes=2"),
            (["--placement", "2x1", "--job", "-N 3"], "-N 3"),
            (["--hosts", "n[1-2]"], "--nodes=2\n"),
        ],
    )
    def test_are_those_of_the_placements_or_the_users(
        self, words: list[str], nodes: str, cluster: Any, tmp_path: Path, submit: Call
    ) -> None:
        ended = submit(*words, "--out", "r", "--no-wait")
        assert ended.code == 0, ended.err
        script = (tmp_path / "r/job.sh").read_text()
        assert f"#SBATCH {nodes}" in script
        assert ("#SBATCH --nodelist=n1,n2\n" in script) == ("--hosts" in words)
        assert "#SBATCH --time=6\n" in script, "20 s, a tenth more, and 5 min, in whole minutes"

    def test_too_few_are_seen_before_anything_is_written(
        self, submit: Call, cluster: Any, tmp_path: Path
    ) -> None:
        words = ["--out", "r", "--placement", "4x2"]
        submit(*words, "--job", "--nodes=2").is_error(2, "needs 4 hosts", "--job gives 2")
        submit(*words, "--hosts", "n1,n2").is_error(2, "needs 4 hosts", "--hosts gives 2")
        assert cluster.jobs == 0
        assert not (tmp_path / "r").exists()

    def test_a_run_goes_on_with_those_that_are_up(
        self, call: Call, run_words: list[str], cluster: Any, tmp_path: Path
    ) -> None:
        words = [*run_words, "--hosts", "n[1-4]", "--out", "r", "--quiet"]
        assert call(*words).code == 0, "the model machine needs no hosts"
        cluster.state("PENDING")
        ended = call("run", "--resume", "r", "--submit", "--no-wait")
        assert ended.code == 0, ended.err
        script = (tmp_path / "r/job.sh").read_text()
        assert "#SBATCH --nodes=3\n" in script and "#SBATCH --nodelist=n1,n2,n3\n" in script
        assert f"run --resume {tmp_path}/r --hosts=n1,n2,n3\n" in script
        (tmp_path / "r/job.json").unlink()
        cluster.tool("sinfo", 'echo "m1 all*"')
        call("run", "--resume", "r", "--submit").is_error(3, "none of n1, n2, n3, n4 is up")


class TestInput:
    @pytest.mark.sampled(3)
    @pytest.mark.parametrize(
        ("words", "said"),
        [
            (["--job", "run.sh"], "'run.sh' in --job is no option"),
            (["--job", "--output=x"], "--output"),
            (["--pattern", "pingpnog"], "pingpnog"),
            (["--bytes", "many"], "many"),
            (["--hosts", "n[1-"], "n[1-"),
            (["--placement", "0x1"], "0x1"),
            (["--budget", "soon"], "soon"),
        ],
    )
    def test_is_checked_before_it_waits_in_a_queue(
        self, words: list[str], said: str, cluster: Any, tmp_path: Path, submit: Call
    ) -> None:
        submit(*words, "--out", "r").is_error(2, said)
        assert cluster.jobs == 0
        assert not (tmp_path / "r").exists()

    def test_options_of_jobs_need_one(
        self, call: Call, tmp_path: Path, run_words: list[str]
    ) -> None:
        call(*run_words, "--job", "--nodes=2").is_error(2, "--job belongs to --submit")
        call(*run_words, "--no-wait").is_error(2, "--no-wait belongs to --submit")

    def test_a_run_that_is_none_cannot_go_on(
        self, call: Call, cluster: Any, tmp_path: Path
    ) -> None:
        (tmp_path / "r").mkdir()
        call("run", "--resume", "r", "--submit").is_error(2, "not a run directory")
        (tmp_path / "r/job.json").write_text("{")
        call("run", "--resume", "r", "--submit").is_error(2, "job.json cannot be read")
        call("run", "--resume", "r", "--submit", "--bytes", "8").is_error(2, "--bytes")

    def test_without_slurm_it_says_so(self, tmp_path: Path, submit: Call) -> None:
        nothing = tmp_path / "nothing"
        nothing.mkdir()
        submit(PATH=str(nothing)).is_error(3, "no batch system", "without --submit")
