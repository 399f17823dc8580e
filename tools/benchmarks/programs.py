"""The programs that are measured: IMB of the Intel wheel, and nhalf on the same library."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

SIZES = [0, *(1 << exponent for exponent in range(23))]
SIZES_TEXT = ",".join(str(size) for size in SIZES)
TIMEOUT_S = 600

Curve = dict[int, float]


def imb_text(*arguments: str) -> str:
    """What one run of IMB-MPI1 with two ranks prints."""
    from nhalf.mpi import discover
    from nhalf.sites.start import start

    library = discover.find("intel")
    program = library.prefix / "bin" / "IMB-MPI1"
    prepared = start(library, [str(program), *arguments], 2)
    return run(prepared.command, prepared.environment)


def imb() -> Curve:
    """One run of IMB-MPI1 PingPong: microseconds by size, turned into seconds."""
    text = imb_text("PingPong", "-msglog", "0:22")
    curve: Curve = {}
    for line in text.splitlines():
        words = line.split()
        if len(words) == 4 and words[0].isdigit() and words[1].isdigit():
            curve[int(words[0])] = float(words[2]) * 1e-6
    if sorted(curve) != SIZES:
        raise SystemExit(f"bench: IMB gave other sizes than expected:\n{text}")
    return curve


def nhalf(*options: str, sizes: str = SIZES_TEXT) -> list[dict[str, Any]]:
    """One run of nhalf on the same library: the points of `run --json`."""
    with tempfile.TemporaryDirectory() as folder:
        command = [sys.executable, "-m", "nhalf", "run", "--mpi", "intel", "--bytes", sizes]
        answer = run([*command, "--out", str(Path(folder, "run")), "--json", *options], {})
    points: list[dict[str, Any]] = json.loads(answer)["points"]
    return points


def run(command: Sequence[str], environment: dict[str, str]) -> str:
    """Standard output of a command that must succeed."""
    done = subprocess.run(
        list(command),
        env={**os.environ, **environment},
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"bench: {command[0]} failed: {done.stderr.strip()[-500:]}")
    return done.stdout
