# SPDX-License-Identifier: Apache-2.0
"""Slurm as text: what it is asked, what it answered once, and what it says when it refuses."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.sites.batch import JobState, Phase, Request, Unreachable
from nhalf.sites.batch.slurm import Slurm, read_sacct, read_scontrol, read_time_left

SHOWN = """\
JobId=48 JobName=nhalf-JobState=BOGUS Reason=x
   UserId=someone(1000) GroupId=someone(1000) MCS_label=N/A
   Priority=4294901712 Nice=0 Account=(null) QOS=(null)
   JobState={state} Reason={reason} Dependency=(null)
   Requeue=1 Restarts=0 BatchFlag=1 Reboot=0 ExitCode={code}
   RunTime=00:00:45 TimeLimit=00:01:00 TimeMin=N/A
   ReqNodeList=(null) ExcNodeList=(null)
   NodeList={nodes}
   BatchHost=n1
   Command=/some/JobState=BOGUS
"""
Tool = Callable[[str, str], None]


@pytest.fixture
def tool(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Tool:
    """Puts commands of a given name first into PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}{os.pathsep}{os.environ['PATH']}")

    def make(name: str, script: str) -> None:
        (tmp_path / name).write_text(f"#!/bin/sh\n{script}\n")
        (tmp_path / name).chmod(0o755)

    return make


class TestOptions:
    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", ()),
            ("  ", ()),
            ("--nodes=4 --time=10:00 -p x", ("--nodes=4", "--time=10:00", "-p x")),
            ("-N 4 -n8 --exclusive", ("-N 4", "-n8", "--exclusive")),
            ("--comment 'two words'", ("--comment 'two words'",)),
            ("--comment='it is'", ("'--comment=it is'",)),
            ("-t 5 -p y", ("-t 5", "-p y")),
        ],
    )
    def test_are_taken_one_by_one(self, text: str, expected: tuple[str, ...]) -> None:
        assert Slurm().options(text) == expected

    @pytest.mark.parametrize(
        ("text", "word"),
        [
            ("run.sh", "run.sh"),
            ("--nodes=4 5", "'5'"),
            ("-N 4 5", "'5'"),
            ("-", "'-'"),
            ("-4", "'-4'"),
            ("--", "'--'"),
            ("--comment='a\nsleep 9'", "no option"),
            ("--comment 'a\nsleep 9'", "no option"),
            ("--comment='", "quot"),
            ("--output=x", "--output"),
            ("-o x", "-o"),
            ("-ox", "-o"),
            ("--array=1-3", "--array"),
            ("--wrap=true", "--wrap"),
            ("--chdir=/", "--chdir"),
        ],
    )
    def test_others_are_refused(self, text: str, word: str) -> None:
        with pytest.raises(InputError, match=word.replace("-", "[-]")):
            Slurm().options(text)

    @pytest.mark.parametrize(
        ("options", "nodes"),
        [
            ((), 0),
            (("--time=4",), 0),
            (("-N 4",), 4),
            (("-N4",), 4),
            (("--nodes=2-8",), 2),
            (("--nodes 3", "--nodes=5"), 5),
            (("--nodes=x",), 0),
            (("--nodelist=n1",), 0),
        ],
    )
    def test_may_say_how_many_hosts(self, options: tuple[str, ...], nodes: int) -> None:
        assert Slurm().nodes_in(options) == nodes


class TestDirectives:
    def test_all_of_them(self) -> None:
        request = Request(
            name="nhalf-it's #a",
            output=Path("/a b/100%/it's/job.out"),
            nodes=4,
            hosts=("n1", "n2", "n3", "n4"),
            time_s=366.0,
            time_why="as long as it takes",
            options=("--partition=x", "--comment 'two words'"),
        )
        assert Slurm().directives(request) == "\n".join(
            [
                "# What squeue shows.",
                """#SBATCH --job-name='nhalf-it'"'"'s #a'""",
                "# Hosts for the largest placement.",
                "#SBATCH --nodes=4",
                "# The hosts that --hosts names.",
                "#SBATCH --nodelist=n1,n2,n3,n4",
                "# Neighbours on the same hosts would be measured, too.",
                "#SBATCH --exclusive",
                "# Minutes: as long as it takes.",
                "#SBATCH --time=7",
                "# A host that is lost does not end the job: the others go on.",
                "#SBATCH --no-kill",
                "# After the loss of the first host this script goes on.",
                "#SBATCH --requeue",
                "# What the job says, added to what a job before it said.",
                "#SBATCH --open-mode=append",
                """#SBATCH --output='/a b/100%%/it'"'"'s/job.out'""",
                "# Asked for with --job.",
                "#SBATCH --partition=x",
                "#SBATCH --comment 'two words'",
            ]
        )

    @pytest.mark.parametrize(
        ("option", "gone"),
        [
            ("-N 2", "--nodes=1"),
            ("--nodes=2", "--nodes=1"),
            ("-t 4", "--time=1"),
            ("-s", "--exclusive"),
            ("--exclusive=user", "--exclusive\n"),
            ("-J x", "--job-name=r"),
            ("--no-requeue", "--requeue"),
            ("-k", "--no-kill"),
        ],
    )
    def test_the_users_options_take_the_place_of_ours(self, option: str, gone: str) -> None:
        request = Request("r", Path("/o"), time_s=60.0)
        assert f"#SBATCH {gone}" in Slurm().directives(request)
        text = Slurm().directives(Request("r", Path("/o"), time_s=60.0, options=(option,)))
        assert f"#SBATCH {gone}" not in text
        assert text.endswith(f"# Asked for with --job.\n#SBATCH {option}")

    def test_without_a_time_it_is_the_partitions(self) -> None:
        assert "--time" not in Slurm().directives(Request("r", Path("/o")))

    @pytest.mark.parametrize("path", ["/a\\b", "/a\nb"])
    def test_files_that_slurm_cannot_name_are_refused(self, path: str) -> None:
        with pytest.raises(InputError, match="--out"):
            Slurm().directives(Request("r", Path(path)))


class TestState:
    @pytest.mark.parametrize(
        ("name", "reason", "phase"),
        [
            ("PENDING", "Resources", Phase.WAITING),
            ("PENDING", "ReqNodeNotAvail,_UnavailableNodes:n[1-2]", Phase.WAITING),
            ("CONFIGURING", "None", Phase.WAITING),
            ("REQUEUED", "None", Phase.WAITING),
            ("RUNNING", "None", Phase.RUNNING),
            ("COMPLETING", "None", Phase.RUNNING),
            ("SUSPENDED", "None", Phase.RUNNING),
            ("A_STATE_TO_COME", "None", Phase.RUNNING),
            ("COMPLETED", "None", Phase.DONE),
            ("CANCELLED", "None", Phase.CANCELLED),
            ("TIMEOUT", "TimeLimit", Phase.BROKEN),
            ("NODE_FAIL", "NodeDown", Phase.BROKEN),
            ("PREEMPTED", "None", Phase.BROKEN),
            ("OUT_OF_MEMORY", "OutOfMemory", Phase.BROKEN),
            ("FAILED", "NonZeroExitCode", Phase.BROKEN),
            ("BOOT_FAIL", "None", Phase.BROKEN),
            ("DEADLINE", "None", Phase.BROKEN),
        ],
    )
    def test_of_scontrol(self, name: str, reason: str, phase: Phase) -> None:
        text = SHOWN.format(state=name, reason=reason, code="0:0", nodes="n[1-2]")
        said = "" if reason == "None" else reason.replace("_", " ")
        assert read_scontrol(text) == JobState(name, phase, said, "n[1-2]", 0)

    def test_exit_codes_and_no_hosts(self) -> None:
        text = SHOWN.format(state="FAILED", reason="None", code="130:0", nodes="(null)")
        assert read_scontrol(text) == JobState("FAILED", Phase.BROKEN, "", "", 130)
        assert read_scontrol(text.replace("NodeList=(null)", "NodeList=")) == JobState(
            "FAILED", Phase.BROKEN, "", "", 130
        )

    @pytest.mark.parametrize("text", ["", "No jobs in the system\n"])
    def test_nothing_is_no_state(self, text: str) -> None:
        assert read_scontrol(text) is None

    def test_in_words(self) -> None:
        assert str(JobState("PENDING", Phase.WAITING, "Resources")) == "PENDING (Resources)"
        assert str(JobState("RUNNING", Phase.RUNNING, "", "n[1-4]")) == "RUNNING on n[1-4]"
        assert str(JobState("TIMEOUT", Phase.BROKEN, "TimeLimit", "n1")) == "TIMEOUT (TimeLimit)"

    @pytest.mark.parametrize(
        ("text", "expected"),
        [
            ("", None),
            ("\n", None),
            ("odd\n", None),
            ("COMPLETED|0:0|n[1-2]\n", JobState("COMPLETED", Phase.DONE, "", "n[1-2]", 0)),
            (
                "CANCELLED by 1000|0:15|None assigned\n",
                JobState("CANCELLED", Phase.CANCELLED, "by 1000", "", 0),
            ),
            ("TIMEOUT|0:0|n1\nTIMEOUT|0:0|n1", JobState("TIMEOUT", Phase.BROKEN, "", "n1", 0)),
        ],
    )
    def test_of_sacct(self, text: str, expected: JobState | None) -> None:
        assert read_sacct(text) == expected

    def test_forgotten_jobs_are_looked_up_in_the_accounts(self, tool: Tool) -> None:
        tool("scontrol", 'echo "slurm_load_jobs error: Invalid job id specified" >&2; exit 1')
        tool("sacct", 'echo "Slurm accounting storage is disabled" >&2; exit 1')
        assert Slurm().state("7") is None
        tool("sacct", '[ "$1 $2" = "--clusters=far --jobs=7" ] && echo "TIMEOUT|0:0|n1"')
        assert Slurm().state("7;far") == JobState("TIMEOUT", Phase.BROKEN, "", "n1", 0)

    def test_a_controller_that_is_away_is_no_state(self, tool: Tool) -> None:
        tool("scontrol", 'echo "Unable to contact slurm controller (connect failure)" >&2; exit 1')
        with pytest.raises(Unreachable, match="connect failure"):
            Slurm().state("7")


class TestTimeLeft:
    @pytest.mark.parametrize(
        ("text", "left_s"),
        [
            ("0:00", 0.0),
            ("4:32", 272.0),
            ("1:00:01", 3601.0),
            ("2-03:04:05", 183845.0),
            ("-0:05", 0.0),
            ("UNLIMITED", None),
            ("INVALID", None),
            ("NOT_SET", None),
            ("", None),
        ],
    )
    def test_of_squeue(self, text: str, left_s: float | None) -> None:
        assert read_time_left(text) == left_s

    def test_a_variable_helps_where_squeue_does_not(self, tool: Tool) -> None:
        tool("squeue", 'echo "4:32"')
        assert Slurm().time_left_s("7", {"SLURM_JOB_END_TIME": "1"}) == 272.0
        tool("squeue", "exit 1")
        assert Slurm().time_left_s("7", {}) is None
        assert Slurm().time_left_s("7", {"SLURM_JOB_END_TIME": "1"}) == 0.0
        later = str(int(time.time()) + 1000)
        left_s = Slurm().time_left_s("7", {"SLURM_JOB_END_TIME": later})
        assert left_s is not None and 0 < left_s <= 1000


class TestSubmit:
    def test_it_is_tried_first_and_the_job_is_named(self, tool: Tool, tmp_path: Path) -> None:
        tool("sbatch", f'echo "$@" >> {tmp_path}/calls; echo "12;far"')
        assert Slurm().submit(tmp_path / "job.sh") == "12;far"
        script = tmp_path / "job.sh"
        calls = (tmp_path / "calls").read_text().splitlines()
        assert calls == [f"--test-only {script}", f"--parsable {script}"]
        assert Slurm().cancelling("12;far") == "scancel --clusters=far 12"
        assert Slurm().cancelling("12") == "scancel 12"

    @pytest.mark.parametrize(
        ("said", "kind", "words"),
        [
            (
                "sbatch: error: invalid partition specified: nix\n"
                "sbatch: error: Batch job submission failed: Invalid partition name specified",
                InputError,
                "sbatch: invalid partition specified: nix",
            ),
            (
                "allocation failure: Requested node configuration is not available",
                InputError,
                "sbatch: allocation failure: Requested node configuration is not available",
            ),
            (
                "sbatch: unrecognized option '--foo'",
                InputError,
                "sbatch: unrecognized option '--foo'",
            ),
            (
                "sbatch: error: Batch job submission failed: Unable to contact slurm controller",
                MissingError,
                "Unable to contact",
            ),
            ("", InputError, "exit code 1"),
        ],
    )
    def test_a_refusal_is_told_in_its_own_words(
        self, said: str, kind: type[Exception], words: str, tool: Tool, tmp_path: Path
    ) -> None:
        (tmp_path / "said").write_text(said)
        tool("sbatch", f"cat {tmp_path}/said >&2; exit 1")
        with pytest.raises(kind) as caught:
            Slurm().submit(tmp_path / "job.sh")
        assert words in str(caught.value)

    def test_an_answer_without_a_job_is_an_error(self, tool: Tool, tmp_path: Path) -> None:
        tool("sbatch", "echo hello")
        with pytest.raises(MissingError, match="hello"):
            Slurm().submit(tmp_path / "job.sh")


def test_hosts_that_are_up(tool: Tool) -> None:
    tool("sinfo", 'echo "n1 all*"; echo "n2 all*"; echo "n2 fast"; echo "n9 fast"; echo')
    assert Slurm().usable_hosts(()) == ["n1", "n2"]
    tool("sinfo", 'for a; do case $a in --partition=*) echo "n9 ${a#*=}";; esac; done')
    assert Slurm().usable_hosts(("-N 4", "-p fast")) == ["n9"]
    assert Slurm().usable_hosts(("--partition=slow",)) == ["n9"]
    assert Slurm().usable_hosts(()) == []
    tool("sinfo", "exit 1")
    assert Slurm().usable_hosts(()) == []
