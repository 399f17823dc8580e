"""`nhalf run --submit` under PBS and Flux: what is handed over, and what comes back."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

Call = Callable[..., Any]
pytestmark = pytest.mark.slow


@dataclass(frozen=True)
class Words:
    """What a system calls things."""

    job: str
    ended: str
    cancelled: str
    cancelling: str
    two_hosts: str
    no_queue: tuple[str, str]


WORDS = {
    "pbs": Words(
        "7.server",
        "finished",
        "terminated",
        "qdel 7.server",
        "#PBS -l select=2:ncpus=2:mpiprocs=2\n",
        ("-q nix", "Unknown queue"),
    ),
    "flux": Words(
        "fM7Zq9AKHno",
        "COMPLETED",
        "CANCELED (cancel: by the user)",
        "flux cancel fM7Zq9AKHno",
        "# flux: --nodes=2\n",
        ("--queue=nix", "Invalid queue 'nix' specified"),
    ),
}


def test_a_job_ends_as_a_run_here_does(
    call: Call, other_system: Any, tmp_path: Path, submit: Call
) -> None:
    words = WORDS[other_system.name]
    there = submit("--out", "it's there", "--batch-system", other_system.name)
    assert there.code == 0, there.err
    assert words.ended in there.err and "latency" in there.out
    assert json.loads((tmp_path / "it's there/job.json").read_text())["system"] == other_system.name


def test_a_job_is_cancelled_while_it_waits(
    call: Call, other_system: Any, tmp_path: Path, submit: Call
) -> None:
    words = WORDS[other_system.name]
    other_system.waits()
    waiting = submit("--out", "r", "--no-wait", "--placement", "2x1")
    assert waiting.out == f"job {words.job}\nrun {tmp_path}/r\n", waiting.err
    assert words.two_hosts in (tmp_path / "r/job.sh").read_text()
    subprocess.run(words.cancelling.split(), check=True)
    ended = call("run", "--resume", "r", "--submit", "--no-wait", "--quiet")
    assert ended.code == 0, ended.err
    assert other_system.jobs == 2, "the cancelled job is replaced"


def test_a_cancelled_job_says_how_to_go_on(other_system: Any, tmp_path: Path, submit: Call) -> None:
    words = WORDS[other_system.name]
    other_system.waits()
    (tmp_path / "tools/deleted").touch()
    ended = submit("--out", "r", "--quiet")
    assert ended.code == 130
    assert f"job {words.job} ended as {words.cancelled}, no point was finished" in ended.err
    assert f"go on with: nhalf run --resume {tmp_path}/r --submit" in ended.err


def test_a_refusal_is_told_and_leaves_nothing(
    other_system: Any, tmp_path: Path, submit: Call
) -> None:
    option, said = WORDS[other_system.name].no_queue
    submit("--out", "r", "--job", option).is_error(2, said)
    assert not (tmp_path / "r").exists()


def test_a_system_that_is_not_here_is_named(submit: Call, cluster: Any, tmp_path: Path) -> None:
    submit("--out", "r", "--batch-system", "pbs").is_error(3, "there is no PBS here", "qsub of PBS")
    submit("--out", "r", "--batch-system", "plusar").is_error(2, "unknown batch system 'plusar'")
    assert cluster.jobs == 0 and not (tmp_path / "r").exists()


def test_flux_run_outside_an_instance_says_where_to_go(
    call: Call, run_words: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("FLUX_URI", raising=False)
    ended = call(*run_words, "--launcher", "flux")
    ended.is_error(3, "flux run has no hosts here", "flux alloc", "--submit")
