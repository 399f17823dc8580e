"""How near is the predicted slow-down of a program to that on a machine that is slower?

One trace of each program in virtual time predicts what it loses by more latency, overhead and time
per byte. The program then runs on the machine with that very latency, overhead or rate, and on the
one as it is with delays injected. Virtual times do not depend on the load of the machine, and
repeat to the last digit.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from benchmarks.pages import table
from nhalf.base.numbers import percent, share_span
from nhalf.base.units import format_time
from nhalf.decide.program.slowdown import BYTE, LATENCY, OVERHEAD
from nhalf.decide.program.tolerance_curves import SlowedLaunch, tolerance
from nhalf.facts.program.program import Program
from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from nhalf.machines.wires import OVERHEADS_SHARE_MAX
from nhalf.measure.probe.subject import library_subject, transport_file
from nhalf.mpi.discover import find

RANKS = 4
TIMEOUT_S = 600
KERNELS = ("bt", "cg", "ep", "ft", "is", "lu", "mg", "sp")
PROXIES = ("pipeline", "overlap", "ring")
LOSSES = {LATENCY: (0.01, 0.03, 0.1, 0.2), OVERHEAD: (0.01, 0.05, 0.2), BYTE: (0.01, 0.05, 0.2)}
"""What the points of a parameter are predicted to cost."""
ROUNDING = 1e-9
"""Virtual time has picoseconds, and so have the machine's parameters."""
ROOT = Path(__file__).resolve().parents[2]
SOURCE = ROOT / "tests/native/fabric/planted.cpp"
SHORTEST_S, OVERHEADS_S = 9e-6, 4e-6
"""Of the machine as it is: its shortest message between nodes, and both overheads of one."""
OVERHEAD_MAX_S = (OVERHEADS_SHARE_MAX * SHORTEST_S - OVERHEADS_S) / (2 - 2 * OVERHEADS_SHARE_MAX)
"""With more, both overheads would be a larger share of a message than the virtual network has."""
MACHINE = """schema = 1
name = "bearing"
[node]
ranks = 1
[[models]]
pattern = "pingpong"
transport = "mpi"
ranks = 2
placement = "same-node"
segments = [{{from_bytes = 0, to_bytes = 4194304, t0_s = 2e-6, r_inf_Bps = 5e9}}]
[[models]]
pattern = "pingpong"
transport = "mpi"
ranks = 2
placement = "other-node"
segments = [{{from_bytes = 0, to_bytes = 4194304, t0_s = {t0_s!r}, r_inf_Bps = {rate_Bps!r}}}]
[[loggp]]
transport = "mpi"
placement = "other-node"
latency_s = {latency_s!r}
send_overhead_s = {sends_s!r}
recv_overhead_s = {receives_s!r}
gap_s = 3e-6
"""


@dataclass(frozen=True)
class Point:
    """Shares of the run time that are lost: predicted, with its interval, on the slower machine,
    and by injected delays.
    """

    program: str
    parameter: str
    added_s: float
    predicted_share: float
    low_share: float
    high_share: float
    lost_share: float
    injected_share: float

    @property
    def error_share(self) -> float:
        """How far the prediction is off, as a share of the run time."""
        return abs(self.predicted_share - self.lost_share)

    @property
    def is_inside(self) -> bool:
        """Whether the interval holds what is lost."""
        return self.low_share - ROUNDING <= self.lost_share <= self.high_share + ROUNDING


def measure(_runs: int) -> tuple[Any, str]:
    """All programs; virtual runs repeat themselves, so each runs once."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        points = [point for program in programs(folder) for point in compared(program, folder)]
    figures = {"ranks": RANKS, "points": [asdict(point) for point in points]}
    return figures, page(points)


def programs(folder: Path) -> list[tuple[str, list[str], str]]:
    """The name, the command and the input of each program."""
    library = find("mpich")
    kernels = library_subject(library, transport_file("npb-mpi")).launch(RANKS, "free", "")[0][-1:]
    proxy = folder / "planted"
    compiler = library.prefix / "bin/mpicxx_abi"
    subprocess.run([compiler, "-std=c++20", "-O1", SOURCE, "-o", proxy], check=True)
    line = "id=1 pattern=npb-{} axis.class=S samples_min=1 samples_max=1\nend\n"
    return [
        *((kernel.upper(), list(kernels), line.format(kernel)) for kernel in KERNELS),
        *((word, [str(proxy), word], "") for word in PROXIES),
    ]


def compared(program: tuple[str, list[str], str], folder: Path) -> list[Point]:
    """The points of one program."""
    name = program[0]
    usual_file = machine(folder / "usual.toml")
    usual = traced(program, usual_file, "timeline", folder / f"{name}-usual")
    launch = SlowedLaunch(usual, Messages(catalogue.machine(str(usual_file))))
    points = []
    for parameter, losses in LOSSES.items():
        for loss in losses:
            added_s = tolerance(launch.slowdown, parameter, loss).added
            if added_s is None or (parameter == OVERHEAD and added_s > OVERHEAD_MAX_S):
                continue
            slower_file = machine(folder / "slower.toml", **{parameter: added_s})
            out = folder / f"{name}-{parameter}-{loss}"
            delay = f"{delay_name(parameter)}={added_s!r}s"
            slower = traced(program, slower_file, "counts", out)
            lost = slower.elapsed_s / usual.elapsed_s - 1
            predicted, low, high = (
                lost_s / usual.elapsed_s for lost_s in launch.lost_s(parameter, added_s)
            )
            delayed = traced(program, usual_file, "counts", Path(f"{out}-injected"), delay)
            injected = delayed.elapsed_s / usual.elapsed_s - 1
            points.append(Point(name, parameter, added_s, predicted, low, high, lost, injected))
            sys.stderr.write(f"{points[-1]}\n")
    return points


def machine(
    path: Path, latency_s: float = 0.0, overhead_s: float = 0.0, byte_s: float = 0.0
) -> Path:
    """A file of the machine: o = 1.5 and 2.5 µs, L = 5 µs, g = 3 µs, G = 1 ns; with that more."""
    text = MACHINE.format(
        t0_s=SHORTEST_S + latency_s + 2 * overhead_s,
        rate_Bps=1 / (1e-9 + byte_s),
        latency_s=5e-6 + latency_s,
        sends_s=1.5e-6 + overhead_s,
        receives_s=2.5e-6 + overhead_s,
    )
    path.write_text(text, "utf-8")
    return path


def delay_name(parameter: str) -> str:
    """What `nhalf trace --inject` calls a parameter."""
    return parameter.removesuffix("_s")


def traced(
    program: tuple[str, list[str], str], on: Path, detail: str, out: Path, delay: str = ""
) -> Program:
    """The trace of a program in virtual time, with a delay if one is given; it has to succeed."""
    _, command, text = program
    nhalf = [sys.executable, "-m", "nhalf"]
    injected = ["--inject", delay] if delay else []
    words = [*nhalf, "trace", "--quiet", "--detail", detail, *injected, "--out", str(out)]
    words += ["--", *nhalf, "try", "--json", "--machine", str(on), "--ranks", str(RANKS)]
    words += ["--placement", f"{RANKS}x1", "--", *command]
    done = subprocess.run(
        words, input=text, capture_output=True, text=True, timeout=TIMEOUT_S, check=False
    )
    if done.returncode:
        raise SystemExit(f"bench: {command} failed on {on}: {done.stderr.strip()[-500:]}")
    return Program.open(out)


NOTE = """MPICH in virtual time on {ranks} ranks, kernels of NPB (class S) and three small \
programs; nothing but messages takes time in the kernels. Of {points} points the median error is \
{median} of the run time, the largest {largest} ({worst}); {inside} of the intervals hold what is \
lost. Their least width was chosen by these points. Delays injected on the machine as it is \
(`nhalf trace --inject`) cost what the slower machine loses within {apart} in the median and \
{farthest} at most. {left_out} more are left out: with so much \
overhead, more than {share} of a message would be that of processors, which no machine of the \
virtual network has.

Where a prediction is off, another order of messages sets in (CG), or an operation has other \
messages than the algorithm nearest to it (EP, FT)."""


def page(points: Sequence[Point]) -> str:
    """The page: each program and parameter."""
    worst = max(points, key=lambda point: point.error_share)
    inside = sum(point.is_inside for point in points) / len(points)
    apart = [abs(point.injected_share - point.lost_share) for point in points]
    note = NOTE.format(
        ranks=RANKS,
        points=len(points),
        median=percent(statistics.median(point.error_share for point in points), 2),
        largest=percent(worst.error_share, 1),
        worst=f"{worst.program}, {delay_name(worst.parameter)}",
        apart=percent(statistics.median(apart), 2),
        farthest=percent(max(apart), 1),
        inside=percent(inside),
        left_out=len({point.program for point in points}) * sum(map(len, LOSSES.values()))
        - len(points),
        share=percent(OVERHEADS_SHARE_MAX),
    )
    head = ["program", "what grows", "by", "predicted", "interval", "lost", "off by"]
    rows = [
        [
            point.program,
            delay_name(point.parameter),
            format_time(point.added_s),
            percent(point.predicted_share, 2),
            share_span(point.low_share, point.high_share) + ("" if point.is_inside else " (not)"),
            percent(point.lost_share, 2),
            percent(point.error_share, 2),
        ]
        for point in points
    ]
    return table("Predicted slow-downs beside slower machines", note, head, rows)
