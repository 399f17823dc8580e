"""How much of a link's rate does a program measure in a lab?"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from benchmarks.pages import table
from nhalf.sites.lab.network import PAYLOAD_SHARE

RATES_MBIT = (200, 500, 1000)
RUN = ("run", "--pattern", "stream", "--bytes", "64K:4M", "--placement", "2x1", "--mpi", "mpich",
       "--launcher", "srun", "--launches", "2", "--budget", "8s", "--quiet")  # fmt: skip


def measure(runs: int) -> tuple[Any, str]:
    """Streams between two nodes, fitted, at several rates; nothing if labs cannot be had."""
    if os.geteuid() != 0:
        return {"runs": 0, "rates": []}, "A lab needs the superuser: nothing was measured.\n"
    name = f"bench{os.getpid()}"
    rows: list[tuple[int, list[float]]] = []
    nhalf("lab", "up", "--nodes", "2", "--name", name)
    try:
        for megabit in RATES_MBIT:
            for node in ("n1", "n2"):
                nhalf("lab", "link", "--name", name, node, "--rate", f"{megabit}mbit")
            payload_Bps = megabit * 125_000 * PAYLOAD_SHARE
            rows.append((megabit, [fitted_Bps(name) / payload_Bps for _ in range(runs)]))
    finally:
        nhalf("lab", "down", "--name", name)
    page = table(
        f"The fitted rate of a link, as a share of the payload that its bucket passes, {runs} runs",
        "Streams of MPICH between two nodes of a lab; a busy machine lets tokens go by.",
        ["link (Mbit/s)", "least", "median", "most"],
        [
            [
                str(megabit),
                f"{min(shares):.3f}",
                f"{statistics.median(shares):.3f}",
                f"{max(shares):.3f}",
            ]
            for megabit, shares in rows
        ],
    )
    found = [{"megabit_per_s": megabit, "shares": shares} for megabit, shares in rows]
    return {"runs": runs, "rates": found}, page


def fitted_Bps(lab: str) -> float:
    """The asymptotic rate between the two nodes."""
    with tempfile.TemporaryDirectory() as folder:
        out = str(Path(folder, "run"))
        command = [sys.executable, "-m", "nhalf", *RUN, "--out", out]
        nhalf("lab", "exec", "--name", lab, "--", *command)
        (model,) = json.loads(nhalf("fit", out, "--json"))["models"]
    return float(model["segments"][-1]["r_inf_Bps"])


def nhalf(*words: str) -> str:
    """What a command of nhalf prints; it has to succeed."""
    command: Sequence[str] = [sys.executable, "-m", "nhalf", *words]
    return subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout
