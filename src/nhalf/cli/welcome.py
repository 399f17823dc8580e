"""`nhalf` alone: what it is, what is here, and one command for each of six questions."""

import shlex
from collections.abc import Sequence
from pathlib import Path

from nhalf.store.described import RUN_DESCRIPTION, USUAL, described_folders

WHAT = "nhalf measures, models and predicts the communication performance of parallel computers."
QUESTIONS = (
    ("What does a message cost here, and with which MPI library?", "nhalf run --report {out}"),
    ("Is it as fast as it was?", "nhalf run --like {run}"),
    ("What was measured?", "nhalf show"),
    ("Where does the time of my program go?", "nhalf trace -- mpiexec -n 4 ./program"),
    ("How fast would it be elsewhere?", "nhalf predict bcast --machine sp2-mpl --ranks 32"),
    ("Which algorithm should my library use?", "nhalf tune --mpi openmpi"),
)
"""Questions with the command that answers each."""


def welcome() -> str:
    """The text of `nhalf` alone, which depends on the runs in ./runs."""
    paths = described_folders()
    runs = [path for path in paths if (path / RUN_DESCRIPTION).exists()]
    usual = USUAL / "today"
    run, out = (shlex.quote(str(runs[-1])), "") if runs else (str(usual), f"--out {usual}")
    width = max(len(question) for question, _ in QUESTIONS)
    rows = [
        f"  {question:{width}}  {line.format(run=run, out=out).rstrip()}"
        for question, line in QUESTIONS
    ]
    return "\n".join([WHAT, _here(paths), "", *rows, "", "All verbs: nhalf --help"])


def _here(paths: Sequence[Path]) -> str:
    """What is in ./runs, the newest last."""
    if not paths:
        return f"Nothing is measured here yet: {USUAL}/ holds no run. Is all set up? nhalf doctor"
    runs = "1 run" if len(paths) == 1 else f"{len(paths)} runs"
    return f"Here, {USUAL}/ holds {runs}, the newest {paths[-1]}."
