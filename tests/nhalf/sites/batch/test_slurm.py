"""What Slurm is asked, as text, and what it says when it refuses."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.base.errors import InputError, MissingError
from nhalf.sites.batch import JobRequest
from nhalf.sites.batch.slurm import Slurm

Tool = Callable[[str, str], None]


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
        request = JobRequest(
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
                "# Other jobs on the same hosts would disturb the measurement.",
                "#SBATCH --exclusive",
                "# Minutes: as long as it takes.",
                "#SBATCH --time=7",
                "# The loss of a host does not end the job: the others continue.",
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
        request = JobRequest("r", Path("/o"), time_s=60.0)
        assert f"#SBATCH {gone}" in Slurm().directives(request)
        text = Slurm().directives(JobRequest("r", Path("/o"), time_s=60.0, options=(option,)))
        assert f"#SBATCH {gone}" not in text
        assert text.endswith(f"# Asked for with --job.\n#SBATCH {option}")

    def test_without_a_time_it_is_the_partitions(self) -> None:
        assert "--time" not in Slurm().directives(JobRequest("r", Path("/o")))

    @pytest.mark.parametrize("path", ["/a\\b", "/a\nb"])
    def test_files_that_slurm_cannot_name_are_refused(self, path: str) -> None:
        with pytest.raises(InputError, match="--out"):
            Slurm().directives(JobRequest("r", Path(path)))


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
            (
                "sbatch: error: resolve_ctls_from_dns_srv: res_nsearch error: Unknown host\n"
                "sbatch: fatal: Could not establish a configuration source",
                MissingError,
                "there is no Slurm here: sbatch finds no configuration of a cluster; submit on a",
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
