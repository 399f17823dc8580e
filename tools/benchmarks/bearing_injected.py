# SPDX-License-Identifier: Apache-2.0
"""How near is a predicted slow-down to what an injected delay costs on a real library?

Launches with and without the delay are made in turns; both are judged without what other programs
took of the processors, as far as the kernel knows it.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from benchmarks.pages import table
from nhalf.base.numbers import percent, share_span
from nhalf.base.units import format_time
from nhalf.decide.program.slowdown import LATENCY
from nhalf.decide.program.tolerance_curves import Launch
from nhalf.decide.program.undisturbed_program import undisturbed_elapsed_s
from nhalf.facts.program.program import Program
from nhalf.measure.probe.subject import library_subject, transport_file
from nhalf.mpi.discover import find

RANKS = 2
KERNELS = ("cg", "lu", "mg")
ADDED_S = (20e-6, 100e-6)
LAUNCHES_MAX = 7
DRAWS = 2000
TIMEOUT_S = 120


@dataclass(frozen=True)
class Point:
    """What a latency costs, as shares of the run time: predicted, and in launches."""

    program: str
    added_s: float
    predicted_share: float
    low_share: float
    high_share: float
    lost_share: float
    lost_low_share: float
    lost_high_share: float

    @property
    def agrees(self) -> bool:
        """Whether both intervals have something in common."""
        return self.low_share <= self.lost_high_share and self.lost_low_share <= self.high_share


def measure(runs: int) -> tuple[Any, str]:
    """All kernels; `runs` launches of each, in turns."""
    launches = min(runs, LAUNCHES_MAX)
    load = os.getloadavg()[0]
    with tempfile.TemporaryDirectory() as name:
        points = [point for kernel in KERNELS for point in _compared(kernel, launches, Path(name))]
    load = max(load, os.getloadavg()[0])
    figures = {"launches": launches, "load": load, "points": [asdict(point) for point in points]}
    return figures, page(points, launches, load)


def _compared(kernel: str, launches: int, folder: Path) -> list[Point]:
    """The points of one kernel."""
    runs: dict[float, list[Program]] = {added_s: [] for added_s in (0.0, *ADDED_S)}
    for launch in range(launches):
        for added_s, programs in runs.items():
            programs.append(_traced(kernel, added_s, folder / f"{kernel}-{added_s}-{launch}"))
    plain_s = [undisturbed_elapsed_s(program) for program in runs[0.0]]
    predicted = [Launch(program) for program in runs[0.0]]
    points = []
    for added_s in ADDED_S:
        slower_s = [undisturbed_elapsed_s(program) for program in runs[added_s]]
        shares = [
            [lost_s / launch.measured_s for lost_s in launch.lost_s(LATENCY, added_s)]
            for launch in predicted
        ]
        middle, low, high = zip(*shares, strict=True)
        lost = median(slower_s) / median(plain_s) - 1
        points.append(
            Point(
                kernel.upper(), added_s, median(middle), min(low), max(high), lost,
                *_interval(plain_s, slower_s),
            )
        )  # fmt: skip
        sys.stderr.write(f"{points[-1]}\n")
    return points


def _interval(plain_s: Sequence[float], slower_s: Sequence[float]) -> tuple[float, float]:
    """The middle 95 % of the ratio of medians over launches that are drawn again."""
    draws = np.random.default_rng(1)
    medians = [
        np.median(draws.choice(np.array(times_s), (DRAWS, len(times_s))), axis=1)
        for times_s in (slower_s, plain_s)
    ]
    low, high = np.quantile(medians[0] / medians[1] - 1, [0.025, 0.975])
    return float(low), float(high)


def _traced(kernel: str, added_s: float, out: Path) -> Program:
    """One launch; it has to succeed."""
    subject = library_subject(find("mpich"), transport_file("npb-mpi"))
    command, environment = subject.launch(RANKS, "free", "")[:2]
    words = [sys.executable, "-m", "nhalf", "trace", "--quiet", "--detail", "timeline"]
    words += ["--inject", f"latency={added_s!r}s"] if added_s else []
    done = subprocess.run(
        [*words, "--out", str(out), "--", *command],
        input=f"id=1 pattern=npb-{kernel} axis.class=S samples_min=1 samples_max=1\nend\n",
        env={**os.environ, **environment},
        capture_output=True,
        text=True,
        timeout=TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise SystemExit(f"bench: npb-{kernel} failed: {done.stderr.strip()[-500:]}")
    return Program.open(out)


NOTE = """MPICH on {ranks} ranks of this machine, kernels of NPB (class S), a latency injected \
into each message by `nhalf trace --inject`; {launches} launches of each in turns, at a load of \
{load:.1f} on {cores} cores. *Lost* is the ratio of the medians, with the middle 95 % of launches \
drawn again; both sides are without what other programs took. {agree} of {points} agree: their \
intervals have something in common."""


def page(points: Sequence[Point], launches: int, load: float) -> str:
    """The page: each kernel and latency."""
    note = NOTE.format(
        ranks=RANKS,
        launches=launches,
        load=load,
        cores=os.cpu_count(),
        agree=sum(point.agrees for point in points),
        points=len(points),
    )
    rows = [
        [
            point.program,
            format_time(point.added_s),
            percent(point.predicted_share, 1),
            share_span(point.low_share, point.high_share),
            percent(point.lost_share, 1),
            share_span(point.lost_low_share, point.lost_high_share),
            "yes" if point.agrees else "no",
        ]
        for point in points
    ]
    head = ["program", "latency", "predicted", "interval", "lost", "interval", "agree"]
    return table("Predicted slow-downs beside injected delays", note, head, rows)
