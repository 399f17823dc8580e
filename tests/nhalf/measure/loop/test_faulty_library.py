"""A real library that flips a bit in one of some hundred messages is found, and named first."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.mpi.discover import libraries, newest
from tests.patience import duration, patience_s
from tests.probes import is_built

HYDRA = [one for one in newest(libraries()) if one.vendor == "mpich" and one.abi]
EVERY = 500
"""One message in this many is wrong; where ranks wait for processors, fewer are verified."""
SIZES = "8,1000"
Watch = Callable[..., Any]
Call = Callable[..., Any]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(not HYDRA, reason="no MPICH here: nhalf mpi install mpich"),
    pytest.mark.skipif(not is_built("probe-mpi-abi"), reason="the probes are not built"),
]


@pytest.fixture
def faulty(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a library in its own prefix: the real one with flips.c before it."""
    real = HYDRA[0]
    source, library = Path(__file__).with_name("flips.c"), tmp_path / "flips.so"
    subprocess.run(["cc", "-shared", "-fPIC", "-O1", source, "-o", library], check=True)
    prefix = tmp_path / "faulty"
    (prefix / "bin").mkdir(parents=True)
    (prefix / "lib").symlink_to(real.prefix / "lib")
    starter = prefix / "bin" / "mpiexec"
    every = max(5, round(EVERY / patience_s(1) ** 2))
    starter.write_text(
        f'#!/bin/sh\ncase "$*" in *probe-*) export LD_PRELOAD={library} FLIPS_EVERY={every};; '
        f'esac\nexec {real.mpiexec} "$@"\n'
    )
    starter.chmod(0o755)
    before = os.environ.get("NHALF_MPI_PREFIXES", "")
    monkeypatch.setenv("NHALF_MPI_PREFIXES", f"{before}:{prefix}".strip(":"))
    return next(one.name for one in libraries() if one.mpiexec == starter)


@pytest.mark.sampled(1)
@pytest.mark.parametrize("pattern", ["pingpong", "bcast", "allreduce"])
def test_one_bit_in_some_hundred_messages(
    watched: Watch, call: Call, faulty: str, tmp_path: Path, pattern: str
) -> None:
    run = tmp_path / "run"
    asked = ("--pattern", pattern, "--bytes", SIZES, "--mpi", faulty, "--budget", duration(2))
    code, out, err = watched("run", *asked, "--out", run).wait()
    assert out.startswith("WRONG DATA: MPICH"), (out, err)
    assert (code, pattern in out.splitlines()[0]) == (1, True)
    assert "arrived wrong" in err
    shown = call("show", run, "--json")
    points = json.loads(shown.out)["points"]
    assert (shown.code, len(points)) == (1, 2)
    wrong = [point for point in points if not point["verified"]]
    assert wrong
    assert all(point["median_s"] is None for point in wrong)
