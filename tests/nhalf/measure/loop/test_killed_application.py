"""A rank of an application is killed in the middle: the others end, and the run is complete."""

from __future__ import annotations

import contextlib
import os
import signal
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.mpi.discover import libraries, newest
from tests.patience import duration, patience_s
from tests.probes import is_built

ABI = [library for library in newest(libraries()) if library.abi]
LAUNCHES = 2
END_S = 10.0
"""Within which ranks end after one of them."""


pytestmark = pytest.mark.skipif(
    not (ABI and is_built("npb-mpi-abi")),
    reason="no MPI library of the standard ABI, or no program for it",
)


def is_alive(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except OSError:
        return False
    return state != "Z"


def until(condition: Callable[[], object], limit_s: float) -> None:
    deadline_s = time.monotonic() + limit_s
    while not condition():
        assert time.monotonic() < deadline_s
        time.sleep(0.005)


@pytest.mark.slow
def test_others_end_and_the_launch_is_made_again(
    watched: Callable[..., Any],
    whole_lines: Callable[[Path], list[dict[str, Any]]],
    tmp_path: Path,
) -> None:
    out = tmp_path / "run"
    which = ["app", "npb", "--kernel", "ep", "--class", "W", "--ranks", "4", "--mpi", ABI[0].name]
    effort = ["--launches", str(LAUNCHES), "--precision", "0.9", "--timeout", duration(60)]
    run = watched(*which, *effort, "--quiet", "--out", out)

    def events(kind: str) -> list[dict[str, Any]]:
        return [one for one in whole_lines(out / "journal.jsonl") if one["event"] == kind]

    until(lambda: events("launch"), patience_s(60))
    ranks = [place["pid"] for place in events("launch")[0]["placement"]]
    assert len(ranks) == 4
    with contextlib.suppress(ProcessLookupError):
        os.kill(ranks[2], signal.SIGKILL)
    until(lambda: not any(map(is_alive, ranks)), patience_s(END_S))
    code, _, err = run.wait()
    assert code == 0, err
    assert run.orphans() == {}
    points = events("point")
    assert sorted({one["launch"] for one in points}) == list(range(LAUNCHES))
    assert all(one["verified"] for one in points)

    code, _, err = watched("app", "--quiet", "--resume", out).wait()
    assert code == 0, err
    assert len(events("point")) == len(points)
