"""What Flux is asked, as text, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.sites.batch import JobRequest, JobState, Phase, Unreachable
from nhalf.sites.batch.flux import Flux, read_state

Tool = Callable[[str, str], None]


class TestDirectives:
    def test_all_of_them(self) -> None:
        request = JobRequest(
            name="nhalf-r 1",
            output=Path("/a b/job.out"),
            nodes=2,
            hosts=("n1", "n2"),
            time_s=366.0,
            time_why="as long as it takes",
            options=("--queue=short",),
        )
        assert Flux().directives(request) == "\n".join(
            [
                "# What flux jobs shows.",
                "# flux: --job-name='nhalf-r 1'",
                "# Hosts for the largest placement.",
                "# flux: --nodes=2",
                "# The hosts that --hosts names.",
                "# flux: --requires=hosts:n1,n2",
                "# Other jobs on the same hosts would disturb the measurement.",
                "# flux: --exclusive",
                "# As long as it takes.",
                "# flux: --time-limit=7m",
                "# What the job says, added to what a job before it said.",
                "# flux: --setopt=output.mode=append",
                "# flux: --output='/a b/job.out'",
                "# Asked for with --job.",
                "# flux: --queue=short",
            ]
        )

    @pytest.mark.parametrize(
        ("option", "gone"),
        [
            ("-N 4", "--nodes=1"),
            ("-N4", "--nodes=1"),
            ("-t 5", "--time-limit=1m"),
            ("-x", "--exclusive"),
            ("--job-name=x", "--job-name=r"),
        ],
    )
    def test_the_users_options_take_the_place_of_ours(self, option: str, gone: str) -> None:
        options = Flux().options(option)
        text = Flux().directives(JobRequest("r", Path("/o"), time_s=60.0, options=options))
        assert f"# flux: {gone}\n" not in text
        assert text.endswith(f"# flux: {option}")

    def test_a_path_that_is_a_template_is_refused(self) -> None:
        with pytest.raises(InputError, match="--out"):
            Flux().directives(JobRequest("r", Path("/a/{{id}}/o")))

    @pytest.mark.parametrize("option", ["--output=x", "--wrap", "--cwd=/", "--error x", "-h"])
    def test_options_that_take_control_are_refused(self, option: str) -> None:
        with pytest.raises(InputError, match="to flux batch"):
            Flux().options(option)

    def test_options_may_say_how_many_hosts(self) -> None:
        assert Flux().nodes_in(Flux().options("-N 4 -q x")) == 4
        assert Flux().nodes_in(()) == 0


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("", None),
        ("odd", None),
        ("SCHED|||held||", JobState("SCHED", Phase.WAITING, "held")),
        ("DEPEND|||after-success=f1||", JobState("DEPEND", Phase.WAITING, "after-success=f1")),
        ("RUN||n[1-2]|n[1-2]||", JobState("RUN", Phase.RUNNING, "", "n[1-2]")),
        ("CLEANUP||n1|n1||", JobState("CLEANUP", Phase.RUNNING, "", "n1")),
        ("A_STATE_TO_COME|||||", JobState("A_STATE_TO_COME", Phase.RUNNING)),
        ("COMPLETED|0|n1|n1||", JobState("COMPLETED", Phase.DONE, "", "n1", 0)),
        ("FAILED|3|n1|n1||", JobState("FAILED", Phase.BROKEN, "", "n1", 3)),
        (
            "CANCELED|-15|n1|n1|cancel|a | b",
            JobState("CANCELED", Phase.CANCELLED, "cancel: a | b", "n1", -15),
        ),
        (
            "TIMEOUT|142|n1|n1|timeout|resource allocation expired",
            JobState("TIMEOUT", Phase.BROKEN, "timeout: resource allocation expired", "n1", 142),
        ),
    ],
)
def test_states_of_flux_jobs(line: str, expected: JobState | None) -> None:
    assert read_state(f"{line}\n") == expected


class TestAnswers:
    def test_states(self, tool: Tool) -> None:
        tool("flux", '[ "$1 $4" = "jobs f7" ] && echo "COMPLETED|0|n1|n1||"')
        assert Flux().state("f7") == JobState("COMPLETED", Phase.DONE, "", "n1", 0)
        tool("flux", 'echo "flux-jobs: ERROR: JobID f7 unknown" >&2; exit 1')
        assert Flux().state("f7") is None
        tool("flux", 'echo "flux-jobs: ERROR: Unable to connect to Flux" >&2; exit 1')
        with pytest.raises(Unreachable, match="Unable to connect"):
            Flux().state("f7")

    def test_submitting(self, tool: Tool, tmp_path: Path) -> None:
        tool("flux", 'echo "$FLUX_F58_FORCE_ASCII-$1"')
        assert Flux().submit(tmp_path / "job.sh") == "1-batch"
        assert Flux().cancelling("f7") == "flux cancel f7"
        tool("flux", 'echo "flux-batch: ERROR: Invalid queue" >&2; exit 1')
        with pytest.raises(InputError, match="Invalid queue"):
            Flux().submit(tmp_path / "job.sh")
        tool("flux", 'echo "flux-batch: ERROR: Unable to connect to Flux" >&2; exit 1')
        with pytest.raises(MissingError, match="flux uptime"):
            Flux().submit(tmp_path / "job.sh")
        tool("flux", "echo two words")
        with pytest.raises(MissingError, match="two words"):
            Flux().submit(tmp_path / "job.sh")

    def test_hosts_that_are_up(self, tool: Tool) -> None:
        tool("flux", 'for a; do [ "$a" = --queue=x ] && echo n9; done; echo "n[1-2]"; echo n4')
        assert Flux().usable_hosts(()) == ["n1", "n2", "n4"]
        assert Flux().usable_hosts(("-q x",)) == ["n9", "n1", "n2", "n4"]
        tool("flux", "exit 1")
        assert Flux().usable_hosts(()) == []

    @pytest.mark.parametrize(
        ("answer", "left_s"), [("360", 360.0), ("4294967295", None), ("", None), ("0", 0.0)]
    )
    def test_the_time_left(self, answer: str, left_s: float | None, tool: Tool) -> None:
        tool("flux", f'[ "$1 $2" = "job timeleft" ] && echo "{answer}"')
        assert Flux().time_left_s("f7", {}) == left_s

    def test_an_installed_flux_without_an_instance_is_not_here(self, tool: Tool) -> None:
        tool("flux", '[ "$1" = uptime ] && exit 0')
        assert Flux().is_here()
        tool("flux", "exit 1")
        assert not Flux().is_here()

    def test_the_job_around_a_process(self) -> None:
        assert Flux().job_here({"FLUX_ENCLOSING_ID": "f7", "FLUX_JOB_ID": "f8"}) == "f7"
        assert Flux().job_here({"FLUX_JOB_ID": "f8"}) == "f8"
        assert Flux().job_here({}) == ""
