"""The closed loop: a file that is fitted to a virtual run is the machine that was put in."""

from __future__ import annotations

import math
import subprocess
import sys
from pathlib import Path

import pytest

from nhalf.machines import catalogue
from nhalf.machines.machine_file import read
from nhalf.machines.message import Messages
from tests.nhalf.measure.virtual.programs import built, tried
from tests.patience import patience_s

ERROR = 0.01
"""Of a parameter or a time, relative; the bar. Found: 0.002, and 0 but for the flat start."""
BETWEEN = [1 << power for power in range(2, 23)]
EDGES = [32, 33, 64, 65, 216, 217, 2048, 2049, 65535]
"""The ends of the segments of the machines below."""
SIZES = sorted({0, 1, 2, *BETWEEN, *EDGES, *(3 * size // 2 for size in BETWEEN[:-1])})
UNSEEN = [5 * size // 4 for size in BETWEEN[:-1]]
HEAD = "# OSU MPI Latency Test v7.5\n# Size  Latency (us)\n"
MACHINES = ("sp2-mpl", "myrinet-gm", "gige-pair")
TIMEOUT_S = 60.0


@pytest.mark.parametrize(
    ("name", "vendor"),
    [
        pytest.param(
            name,
            vendor,
            marks=[] if (name, vendor) == ("myrinet-gm", "mpich") else [pytest.mark.full],
        )
        for name in MACHINES
        for vendor in ("mpich", "intel", "openmpi")
    ],
)
def test_the_machine_comes_out_that_was_put_in(
    name: str, vendor: str, programs: Path, tmp_path: Path
) -> None:
    program = built(vendor, "operation_times", programs)
    sizes = ",".join(map(str, SIZES))
    words = ("1", f"pingpong:{sizes}")
    outcome = tried(name, vendor, 2, program, *words, options="--placement 2x1")
    assert outcome.succeeded, outcome.stderr
    log = tmp_path / "latency.txt"
    rows = (line.split()[1:] for line in outcome.stdout.splitlines())
    log.write_text(HEAD + "".join(f"{size} {time_us}\n" for size, time_us in rows))
    nhalf("import", str(log), "--out", str(tmp_path / "run"))
    nhalf("fit", str(tmp_path / "run"), "--out", str(tmp_path / "machine.toml"))
    (fitted,) = read(tmp_path / "machine.toml").models
    put_in = Messages(catalogue.machine(name)).between_nodes[0][1]
    assert [segment.from_bytes for segment in fitted.segments] == [
        segment.from_bytes for segment in put_in.segments
    ]
    for found, given in zip(fitted.segments, put_in.segments, strict=True):
        assert found.t0_s == pytest.approx(given.t0_s, rel=ERROR)
        # A time that does not grow has no rate.
        if math.isfinite(given.r_inf_Bps):
            assert found.r_inf_Bps == pytest.approx(given.r_inf_Bps, rel=ERROR)
    for size in (*SIZES, *UNSEEN):
        assert fitted.time_s(size) == pytest.approx(put_in.time_s(size), rel=ERROR)


def nhalf(*words: str) -> None:
    """A command that has to succeed."""
    command = [sys.executable, "-m", "nhalf", *words]
    done = subprocess.run(
        command, capture_output=True, text=True, timeout=patience_s(TIMEOUT_S), check=False
    )
    assert done.returncode == 0, done.stderr
