# SPDX-License-Identifier: Apache-2.0
"""What nhalf costs and how steady it is, side by side with the Intel MPI Benchmarks.

`python tools/bench.py [--out docs/benchmarks] [--only accuracy,collectives,spread,time,overhead]`
measures and writes one Markdown page and one JSON file for each. The Intel wheel brings IMB-MPI1;
both programs run on that library, in turn, so that a machine that changes its speed disturbs both.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

SIZES = [0, *(1 << exponent for exponent in range(23))]
SIZES_TEXT = ",".join(str(size) for size in SIZES)
TIMEOUT_S = 600

Curve = dict[int, float]


def main(arguments: Sequence[str]) -> int:
    """Run the chosen benchmarks one after the other."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("docs/benchmarks"))
    parser.add_argument("--only", default=",".join(BENCHMARKS))
    parser.add_argument("--runs", type=int, default=10)
    chosen = parser.parse_args(arguments)
    chosen.out.mkdir(parents=True, exist_ok=True)
    for name in chosen.only.split(","):
        figures, page = BENCHMARKS[name](chosen.runs)
        (chosen.out / f"{name}.json").write_text(json.dumps(figures, indent=1) + "\n", "utf-8")
        (chosen.out / f"{name}.md").write_text(page, "utf-8")
        sys.stdout.write(page + "\n")
    return 0


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
    import os

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


def accuracy(runs: int) -> tuple[Any, str]:
    """Is nhalf's ping-pong as fast as IMB's? One launch of each in turn."""
    theirs: list[Curve] = []
    ours: list[dict[int, dict[str, Any]]] = []
    for _ in range(runs):
        theirs.append(imb())
        ours.append({point["bytes"]: point for point in nhalf("--launches", "1")})
    rows = []
    for size in SIZES:
        imb_s = [curve[size] for curve in theirs]
        median_s = [points[size]["median_s"] for points in ours]
        lowest_s = [points[size]["lowest_s"] for points in ours]
        rows.append(
            {
                "bytes": size,
                "imb_median_s": statistics.median(imb_s),
                "nhalf_median_s": statistics.median(median_s),
                "median_ratio": statistics.median(median_s) / statistics.median(imb_s),
                "lowest_ratio": min(lowest_s) / min(imb_s),
            }
        )
    page = table(
        f"Ping-pong time: nhalf against IMB on the same library, {runs} launches of each in turn",
        "Ratios below 1 say that nhalf reports less time. IMB prints two decimals of a "
        "microsecond, so its smallest times are known to about 4 % only.",
        ["size (B)", "IMB (µs)", "nhalf (µs)", "median ratio", "ratio of lowest"],
        [
            [
                str(row["bytes"]),
                f"{row['imb_median_s'] * 1e6:.3f}",
                f"{row['nhalf_median_s'] * 1e6:.3f}",
                f"{row['median_ratio']:.3f}",
                f"{row['lowest_ratio']:.3f}",
            ]
            for row in rows
        ],
    )
    return rows, page


COLLECTIVES = {"Bcast": "bcast", "Allreduce": "allreduce", "Alltoall": "alltoall",
               "Reduce": "reduce", "Barrier": "barrier"}  # fmt: skip
COLLECTIVE_SIZES = (4, 64, 1024, 16384, 262144, 1048576)
Cell = tuple[str, int]


def imb_collectives() -> dict[Cell, float]:
    """The t_max of IMB's collectives in seconds, by pattern and size."""
    with tempfile.NamedTemporaryFile("w", suffix=".sizes") as sizes:
        sizes.write("".join(f"{size}\n" for size in COLLECTIVE_SIZES))
        sizes.flush()
        text = imb_text(*COLLECTIVES, "-msglen", sizes.name)
    found: dict[Cell, float] = {}
    pattern = ""
    for line in text.splitlines():
        words = line.split()
        if line.startswith("# Benchmarking"):
            pattern = COLLECTIVES[words[2]]
        elif len(words) == 5 and words[0].isdigit():
            found[pattern, int(words[0])] = float(words[3]) * 1e-6
        elif len(words) == 4 and pattern == "barrier" and words[0].isdigit():
            found[pattern, 0] = float(words[2]) * 1e-6
    return found


def our_collectives(start: str) -> dict[Cell, float]:
    """Our times of one launch, by pattern and size, started as asked."""
    points = nhalf(
        "--pattern", ",".join(COLLECTIVES.values()), "--launches", "1", "--budget", "2s",
        "--axis", f"start={start}", "--axis", "buffers=warm", "--axis", "call=steady",
        "--axis", "place=out", sizes=",".join(map(str, COLLECTIVE_SIZES)),
    )  # fmt: skip
    return {(point["pattern"], point["bytes"]): point["median_s"] for point in points}


def collectives(runs: int) -> tuple[Any, str]:
    """Are nhalf's collectives as fast as IMB's t_max? One launch of each in turn."""
    theirs, together, after_barrier = [], [], []
    for _ in range(runs):
        theirs.append(imb_collectives())
        together.append(our_collectives("sync"))
        after_barrier.append(our_collectives("barrier"))
    rows: list[dict[str, Any]] = []
    for pattern, size in sorted(theirs[0]):
        imb_s, sync_s, barrier_s = (
            statistics.median(curve[pattern, size] for curve in curves)
            for curves in (theirs, together, after_barrier)
        )
        times = {"imb_s": imb_s, "sync_s": sync_s, "barrier_s": barrier_s}
        lowest = [min(curve[pattern, size] for curve in curves) for curves in (together, theirs)]
        ratios = {"median_ratio": sync_s / imb_s, "lowest_ratio": lowest[0] / lowest[1]}
        rows.append({"pattern": pattern, "bytes": size, **times, **ratios})
    page = table(
        f"Collectives, 2 ranks: nhalf against IMB's t_max, {runs} launches of each in turn",
        "nhalf starts all ranks at one time of a synchronised clock and counts from the first "
        "start to the last end; IMB counts from each rank's own exit from a barrier. The fourth "
        "column is nhalf started IMB's way: what differs between it and the third is the skew of "
        "the barrier. IMB's barriers follow each other at once, so that one begins while the last "
        "is still ending; a barrier by itself takes longer. Times are medians over launches, the "
        "last column compares the fastest launch of each: on a machine that changes its state, "
        "launches of the same state. IMB prints two decimals of a microsecond.",
        [
            "operation",
            "size (B)",
            "IMB (µs)",
            "nhalf (µs)",
            "nhalf after a barrier (µs)",
            "median ratio",
            "ratio of lowest",
        ],
        [
            [
                row["pattern"],
                str(row["bytes"]),
                *(f"{row[name] * 1e6:.3f}" for name in ("imb_s", "sync_s", "barrier_s")),
                f"{row['median_ratio']:.3f}",
                f"{row['lowest_ratio']:.3f}",
            ]
            for row in rows
        ],
    )
    return rows, page


def spread(runs: int) -> tuple[Any, str]:
    """How far do repeated default runs differ? Runs of both in turn."""
    theirs: list[Curve] = []
    ours: list[dict[int, dict[str, Any]]] = []
    for _ in range(runs):
        theirs.append(imb())
        ours.append({point["bytes"]: point for point in nhalf()})
    rows = []
    covered = pairs = 0
    for size in SIZES:
        imb_spread = width([curve[size] for curve in theirs])
        our_spread = width([points[size]["median_s"] for points in ours])
        rows.append({"bytes": size, "imb_spread": imb_spread, "nhalf_spread": our_spread})
        for this, following in itertools.pairwise(ours):
            pairs += 1
            low, high = this[size]["ci_low_s"], this[size]["ci_high_s"]
            covered += low <= following[size]["median_s"] <= high
    middle = rows[len(rows) // 10 : len(rows) - len(rows) // 10]
    halved = sum(row["nhalf_spread"] <= row["imb_spread"] / 2 for row in middle)
    share = covered / pairs if pairs else math.nan
    figures = {"runs": runs, "sizes": rows, "halved": halved, "of": len(middle), "covered": share}
    page = table(
        f"Spread (max/min - 1) of the reported time over {runs} runs of each in turn",
        f"nhalf spreads at most half as much as IMB at {halved} of the middle {len(middle)} sizes. "
        f"Its interval holds the value of the next run in {share:.1%} of {pairs} cases.",
        ["size (B)", "IMB", "nhalf"],
        [
            [str(row["bytes"]), f"{row['imb_spread']:.1%}", f"{row['nhalf_spread']:.1%}"]
            for row in rows
        ],
    )
    return figures, page


def curve_time(runs: int) -> tuple[Any, str]:
    """How long does a whole curve take: 24 sizes, 5 launches?"""
    seconds, widths = [], []
    for _ in range(max(1, min(runs, 3))):
        began_s = time.monotonic()
        points = nhalf("--launches", "5")
        seconds.append(time.monotonic() - began_s)
        halves = [(p["ci_high_s"] - p["ci_low_s"]) / 2 / p["median_s"] for p in points]
        widths.append(sum(half <= 0.03 for half in halves))
    figures = {"seconds": seconds, "sizes": len(SIZES), "within_3_percent": widths}
    page = table(
        "Time of a whole curve: 24 sizes from 0 to 4 MiB, 5 launches, one library",
        "Start-up of Python included; the last column counts sizes whose interval is within 3 %.",
        ["run", "seconds", "within 3 %"],
        [
            [str(index + 1), f"{second:.1f}", f"{count} of {len(SIZES)}"]
            for index, (second, count) in enumerate(zip(seconds, widths, strict=True))
        ],
    )
    return figures, page


def overhead(runs: int) -> tuple[Any, str]:
    """What the harness adds to a message: the sampler around calls that do nothing."""
    with tempfile.TemporaryDirectory() as folder:
        program = Path(folder, "overhead")
        root = Path(__file__).resolve().parents[1]
        source = root / "tests" / "native" / "bench" / "overhead.cpp"
        compile_command = ["c++", "-std=c++20", "-O3", "-DNDEBUG", "-I", str(root / "native")]
        run([*compile_command, str(source), "-o", str(program)], {})
        lines = [run([str(program)], {}).split() for _ in range(runs)]
    bare = statistics.median(float(line[0]) for line in lines)
    sampled = statistics.median(float(line[1]) for line in lines)
    figures = {"bare_s": bare, "sampled_s": sampled, "added_s": sampled - bare}
    page = table(
        f"What the harness adds to one message, median of {runs} runs",
        "Calls that do nothing, in a plain loop between two clock readings and under the sampler.",
        ["plain loop (ns)", "sampler (ns)", "added (ns)"],
        [[f"{bare * 1e9:.3f}", f"{sampled * 1e9:.3f}", f"{(sampled - bare) * 1e9:.3f}"]],
    )
    return figures, page


def width(values: Sequence[float]) -> float:
    """Relative distance of the largest from the smallest."""
    return max(values) / min(values) - 1


def table(title: str, note: str, head: list[str], rows: list[list[str]]) -> str:
    """A page of one Markdown table."""
    lines = [f"# {title}", "", note, "", "| " + " | ".join(head) + " |"]
    lines.append("|" + "---:|" * len(head))
    lines += ["| " + " | ".join(row) + " |" for row in rows]
    return "\n".join(lines) + "\n"


BENCHMARKS: dict[str, Callable[[int], tuple[Any, str]]] = {
    "overhead": overhead,
    "accuracy": accuracy,
    "collectives": collectives,
    "time": curve_time,
    "spread": spread,
}

if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
