"""The job script, letter by letter, and as a shell reads it."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from nhalf.jobs.job import JobSpec, job_variables, script
from tests.patience import patience_s

PROGRAM = ("/opt/python", "-m", "nhalf")


def test_of_a_run_that_begins() -> None:
    spec = JobSpec(Path("/data/r 1"), Path("/home"), 2, ("p2p", "--mpi=a"))
    assert script("#SBATCH --nodes=2", spec, PROGRAM, {"PYTHONPATH": "/a b"}) == (
        "#!/bin/sh\n"
        "# A job of nhalf, written by `nhalf run --submit`. Started again, it goes on with what\n"
        "# is not measured yet.\n"
        "\n"
        "#SBATCH --nodes=2\n"
        "\n"
        "# Names of files are those of the folder in which it was submitted.\n"
        "cd /home || exit 3\n"
        "\n"
        "# The same nhalf as that which submitted.\n"
        "export PYTHONPATH='/a b'\n"
        "\n"
        "# nhalf replaces this shell, so that it receives the scheduler's signals.\n"
        "if [ -e '/data/r 1/run.json' ]; then\n"
        "    # Begun in a job before this one.\n"
        "    exec /opt/python -m nhalf run --resume '/data/r 1'\n"
        "else\n"
        "    exec /opt/python -m nhalf run p2p --mpi=a --out '/data/r 1'\n"
        "fi\n"
    )


def test_of_a_run_that_only_goes_on() -> None:
    spec = JobSpec(Path("/data/r"), Path("/home"), 1, resume=("--hosts=n1,n2",))
    text = script("", spec, PROGRAM, {})
    assert text.endswith(
        "scheduler's signals.\nexec /opt/python -m nhalf run --resume /data/r --hosts=n1,n2\n"
    )
    assert "if" not in text.split("\n")[-2]
    assert "export" not in text


def test_variables_are_those_of_nhalf() -> None:
    variables = {"HOME": "/", "PYTHONPATH": "x", "NHALF_LAB": "y", "XNHALF_": "", "PYTHONPATHS": ""}
    assert job_variables(variables) == {"NHALF_LAB": "y", "PYTHONPATH": "x"}


WORDS = st.text(st.characters(exclude_characters="\0", exclude_categories=("Cs",)), max_size=20)


@settings(max_examples=25, deadline=None)
@given(words=st.lists(WORDS, max_size=4), value=WORDS, begun=st.booleans())
def test_every_argument_arrives_as_it_is(
    words: list[str], value: str, begun: bool, tmp_path_factory: object
) -> None:
    folder: Path = tmp_path_factory.mktemp("it's")  # type: ignore[attr-defined]
    run = folder / 'a "run" $HOME'
    run.mkdir()
    if begun:
        (run / "run.json").touch()
    shows = "import json, os, sys; print(json.dumps([sys.argv[1:], os.environ['NHALF_X']]))"
    program = (sys.executable, "-c", shows)
    spec = JobSpec(run, folder, 1, ("x", *words), ("--hosts=a",))
    file = folder / "job.sh"
    file.write_bytes(script("", spec, program, {"NHALF_X": value}).encode())
    done = subprocess.run(
        ["sh", str(file)], capture_output=True, check=True, timeout=patience_s(60)
    )
    arguments, variable = json.loads(done.stdout)
    assert variable == value
    if begun:
        assert arguments == ["run", "--resume", str(run), "--hosts=a"]
    else:
        assert arguments == ["run", "x", *words, "--out", str(run)]
