"""What Slurm answered once: states, the time that is left, hosts that are up."""

from __future__ import annotations

import time
from collections.abc import Callable

import pytest

from nhalf.sites.batch import JobState, Phase, Unreachable, seconds_of
from nhalf.sites.batch.slurm import Slurm, read_sacct, read_scontrol

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

Tool = Callable[[str, str], None]


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
        assert seconds_of(text) == left_s

    def test_a_variable_helps_where_squeue_does_not(self, tool: Tool) -> None:
        tool("squeue", 'echo "4:32"')
        assert Slurm().time_left_s("7", {"SLURM_JOB_END_TIME": "1"}) == 272.0
        tool("squeue", "exit 1")
        assert Slurm().time_left_s("7", {}) is None
        assert Slurm().time_left_s("7", {"SLURM_JOB_END_TIME": "1"}) == 0.0
        later = str(int(time.time()) + 1000)
        left_s = Slurm().time_left_s("7", {"SLURM_JOB_END_TIME": later})
        assert left_s is not None and 0 < left_s <= 1000


def test_hosts_that_are_up(tool: Tool) -> None:
    tool("sinfo", 'echo "n1 all*"; echo "n2 all*"; echo "n2 fast"; echo "n9 fast"; echo')
    assert Slurm().usable_hosts(()) == ["n1", "n2"]
    tool("sinfo", 'for a; do case $a in --partition=*) echo "n9 ${a#*=}";; esac; done')
    assert Slurm().usable_hosts(("-N 4", "-p fast")) == ["n9"]
    assert Slurm().usable_hosts(("--partition=slow",)) == ["n9"]
    assert Slurm().usable_hosts(()) == []
    tool("sinfo", "exit 1")
    assert Slurm().usable_hosts(()) == []
