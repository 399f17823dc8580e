"""What PBS is asked, as text, and what it answers as its manual pages and its source say."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.sites.batch import JobRequest, JobState, Phase, Unreachable
from nhalf.sites.batch.pbs import Pbs, read_blocks, read_state

Tool = Callable[[str, str], None]

SHOWN = """\
Job Id: 7.server
    Job_Name = nhalf-r
    resources_used.walltime = 00:00:12
    job_state = {letter}
    Variable_List = PBS_O_LANG=C,PBS_O_NOTE=Exit_status = 9,
\tjob_state = Q
    exec_host = n1/0*2+n2/0*2+
\tn2/1
    Resource_List.walltime = 00:06:00
{more}
"""
RUN_AT = "comment = Job run at Mon Nov 30 at 05:19 on (n1:ncpus=2)"


class TestOptions:
    @pytest.mark.parametrize(
        ("text", "nodes"),
        [
            ("", 0),
            ("-q short", 0),
            ("-l select=4", 4),
            ("-lselect=4:ncpus=2:mpiprocs=2", 4),
            ("-l select=2:ncpus=4+1:ncpus=2+host=n9", 4),
            ("-l walltime=1:00,select=3", 3),
            ("-l nodes=5:ppn=8", 5),
            ("-l select=2 -l select=6", 6),
            ("-l select=host=n1", 1),
            ("-N 12", 0),
        ],
    )
    def test_may_say_how_many_hosts(self, text: str, nodes: int) -> None:
        pbs = Pbs()
        assert pbs.nodes_in(pbs.options(text)) == nodes

    @pytest.mark.parametrize(
        ("text", "word"),
        [
            ("run.sh", "no option of qsub"),
            ("-o x", "pass -o on"),
            ("-j oe", "RUN/job.out"),
            ("-J 1-3", "one job"),
            ("-W block=true", "pass -W block on to qsub: it follows"),
            ("-W depend=afterok:1,block=true", "-W block"),
            ("-I", "-I"),
        ],
    )
    def test_others_are_refused(self, text: str, word: str) -> None:
        with pytest.raises(InputError, match=word.replace("-", "[-]")):
            Pbs().options(text)

    def test_other_attributes_are_passed_on(self) -> None:
        assert Pbs().options("-W group_list=g -V") == ("-W group_list=g", "-V")


class TestDirectives:
    def test_all_of_them(self) -> None:
        request = JobRequest(
            name="nhalf-it's #ä",
            output=Path("/a b/it's/job.out"),
            nodes=4,
            cores=64,
            time_s=3666.0,
            time_why="as long as it takes",
            options=("-q short",),
        )
        assert Pbs().directives(request) == "\n".join(
            [
                "# What qstat shows.",
                "#PBS -N nhalf-it_s___",
                "# Hosts, and all of their cores.",
                "#PBS -l select=4:ncpus=64:mpiprocs=64",
                "# Other jobs on the same hosts would disturb the measurement.",
                "#PBS -l place=scatter:excl",
                "# As long as it takes.",
                "#PBS -l walltime=1:02:00",
                "# After the loss of the first host this script goes on.",
                "#PBS -r y",
                "# The modules that are loaded here.",
                "#PBS -V",
                "# Otherwise it is the login shell.",
                "#PBS -S /bin/sh",
                "# PBS would overwrite what a job before it said.",
                "#PBS -j oe",
                "#PBS -R oe",
                "# Asked for with --job.",
                "#PBS -q short",
                "",
                "# What the job says, added to what a job before it said.",
                """exec >>'/a b/it'"'"'s/job.out' 2>&1""",
            ]
        )

    def test_hosts_by_name_and_unknown_cores(self) -> None:
        text = Pbs().directives(JobRequest("r", Path("/o"), hosts=("n1", "n2")))
        assert "#PBS -l select=1:host=n1+1:host=n2\n" in text
        assert "walltime" not in text

    def test_the_users_options_take_the_place_of_ours(self) -> None:
        options = Pbs().options("-l walltime=9:00,select=1:ncpus=8 -r n -v X=1")
        text = Pbs().directives(JobRequest("r", Path("/o"), time_s=60, options=options))
        assert text.count("select=") == text.count("walltime=") == 1
        assert "#PBS -r y" not in text and "#PBS -V" not in text and "place=scatter" in text
        old = Pbs().directives(JobRequest("r", Path("/o"), options=("-l nodes=2:ppn=4",)))
        assert "select" not in old and "place" not in old


@pytest.mark.parametrize(
    ("letter", "more", "expected"),
    [
        (
            "Q",
            "    comment = Not Running: Not enough free nodes available",
            JobState("queued", Phase.WAITING, "Not enough free nodes available", "n1,n2"),
        ),
        ("H", "", JobState("held", Phase.WAITING, "", "n1,n2")),
        ("R", f"    {RUN_AT}", JobState("running", Phase.RUNNING, "", "n1,n2")),
        ("E", "", JobState("exiting", Phase.RUNNING, "", "n1,n2")),
        ("?", "", JobState("?", Phase.RUNNING, "", "n1,n2")),
        ("F", "    Exit_status = 0", JobState("finished", Phase.DONE, "", "n1,n2", 0)),
        (
            "F",
            "    substate = 91\n    Exit_status = 271",
            JobState("terminated", Phase.CANCELLED, "", "n1,n2", 271),
        ),
        ("F", "    substate = 91", JobState("terminated", Phase.CANCELLED, "", "n1,n2")),
        (
            "F",
            "    substate = 93\n    Exit_status = -29",
            JobState("failed", Phase.BROKEN, "exceeded resource walltime", "n1,n2", -29),
        ),
        (
            "F",
            "    Exit_status = 265",
            JobState("failed", Phase.BROKEN, "signal 9", "n1,n2", 265),
        ),
        ("F", "    Exit_status = 3", JobState("failed", Phase.BROKEN, "exit code 3", "n1,n2", 3)),
        (
            "F",
            f"    {RUN_AT} and failed\n    Exit_status = -3",
            JobState("failed", Phase.BROKEN, "failed", "n1,n2", -3),
        ),
        ("F", "", JobState("failed", Phase.BROKEN, "", "n1,n2")),
    ],
)
def test_states_of_qstat(letter: str, more: str, expected: JobState) -> None:
    (attributes,) = read_blocks(SHOWN.format(letter=letter, more=more)).values()
    assert read_state(attributes) == expected


class TestState:
    def test_history_that_is_off_or_gone(self, tool: Tool) -> None:
        history = "PBS is not configured to maintain job history"
        tool(
            "qstat",
            f'[ "$1" = -x ] && {{ echo "qstat: {history}" >&2; exit 0; }}\n'
            'echo "Job Id: 7.server"; echo "    job_state = R"',
        )
        assert Pbs().state("7.server") == JobState("running", Phase.RUNNING)
        tool("qstat", 'echo "qstat: Unknown Job Id 7.server" >&2; exit 153')
        assert Pbs().state("7.server") is None

    def test_a_server_that_is_away_is_no_state(self, tool: Tool) -> None:
        tool("qstat", 'echo "qstat: cannot connect to server head (errno=111)" >&2; exit 111')
        with pytest.raises(Unreachable, match="cannot connect"):
            Pbs().state("7.server")
        assert Pbs().time_left_s("7.server", {}) is None


def test_the_time_left_is_that_of_the_limit(tool: Tool) -> None:
    started = time.strftime("%a %b %d %H:%M:%S %Y", time.localtime(time.time() - 100))
    lines = ["Job Id: 7.s", "    Resource_List.walltime = 01:00:00", f"    stime = {started}"]
    tool("qstat", "\n".join(f'echo "{line}"' for line in lines))
    left_s = Pbs().time_left_s("7.s", {})
    assert left_s is not None and 3000 < left_s <= 3500
    tool("qstat", 'echo "Job Id: 7.s"; echo "    job_state = R"')
    assert Pbs().time_left_s("7.s", {}) is None


def test_hosts_that_are_up_and_their_cores(tool: Tool) -> None:
    tool(
        "pbsnodes",
        "cat << end\n"
        "n1\n     Mom = n1\n     state = free\n     resources_available.host = n1\n"
        "     resources_available.ncpus = 64\n\n"
        "n2\n     state = job-exclusive\n     resources_available.ncpus = 64\n\n"
        "n3\n     state = down,offline\n     resources_available.ncpus = 64\n\n"
        "g1\n     state = job-busy\n     resources_available.ncpus = 128\nend",
    )
    assert Pbs().usable_hosts(()) == ["n1", "n2", "g1"]
    assert Pbs().cores_per_host(()) == 64
    tool("pbsnodes", "exit 1")
    assert Pbs().usable_hosts(()) == [] and Pbs().cores_per_host(()) == 0


class TestSubmit:
    def test_it_names_the_job(self, tool: Tool, tmp_path: Path) -> None:
        tool("qsub", "echo 12.head.site")
        assert Pbs().submit(tmp_path / "job.sh") == "12.head.site"
        assert Pbs().cancelling("12.head.site") == "qdel 12.head.site"
        assert Pbs().job_here({"PBS_JOBID": "12.head"}) == "12.head"

    @pytest.mark.parametrize(
        ("said", "kind", "words"),
        [
            ("qsub: Unknown queue", InputError, "qsub: exit code 1: qsub: Unknown queue"),
            ("qsub: cannot connect to server head (errno=111)", MissingError, "qstat -B"),
        ],
    )
    def test_a_refusal_is_told_in_its_own_words(
        self, said: str, kind: type[Exception], words: str, tool: Tool, tmp_path: Path
    ) -> None:
        tool("qsub", f'echo "{said}" >&2; exit 1')
        with pytest.raises(kind) as caught:
            Pbs().submit(tmp_path / "job.sh")
        assert words in str(caught.value)

    def test_an_answer_without_a_job_is_an_error(self, tool: Tool, tmp_path: Path) -> None:
        tool("qsub", "echo hello")
        with pytest.raises(MissingError, match="hello"):
            Pbs().submit(tmp_path / "job.sh")


@pytest.mark.parametrize(
    ("answer", "is_here"),
    [
        ("echo 'pbs_version = 23.06.06'", True),
        ("echo 'Version: 6.1.2' >&2", False),
        ("echo 'qsub: Unknown option --version'; exit 1", False),
    ],
)
def test_torque_and_grid_engine_are_told_apart(answer: str, is_here: bool, tool: Tool) -> None:
    tool("qsub", answer)
    assert Pbs().is_here() == is_here
