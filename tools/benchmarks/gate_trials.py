"""Does `nhalf gate` find a slower core of this machine, and is it ever wrong about a sound one?

`python tools/benchmarks/gate_trials.py 50` makes a baseline of 20 gates, then prints the verdicts
of 500 gates without a change, of 50 beside a busy loop on one core, and of 50 each of which one
core takes 1.1, 1.2 and 1.5 times as long: what slow_core.c preloads into the probe spins there for
a part of every 2 ms. The machine should be idle otherwise.

`... gate_trials.py 50 lab` does it on a lab of two nodes that is up (`nhalf lab up --nodes 2 --rate
1gbit`), as root: gates of the pair, with the link as it is and at half its rate.

`... gate_trials.py 60 record FILE [PAUSE_S]` appends the looks of gates to a file, a JSON line for
each gate, without judging them; gates.py replays them.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec

from nhalf.base.files import append_whole
from nhalf.cli.verbs.gate import ENDING_S, Deadline
from nhalf.decide.check.gate import Decision, Gate
from nhalf.node.all_cores import all_cores

HERE = Path(__file__).parent
BUDGET_S = 10.0
BASELINE = 20
NULL_FACTOR = 10
"""This many times as many gates are without a change."""
FACTORS = ("1.1", "1.2", "1.5")
RECORDED_LOOKS = 6


@contextmanager
def slowed(library: Path, core: int, factor: str) -> Iterator[None]:
    """Probes that are started meanwhile take `factor` times as long on a core."""
    variables = {"LD_PRELOAD": str(library), "SLOW_CORE": str(core), "SLOW_FACTOR": factor}
    os.environ |= variables
    try:
        yield
    finally:
        for name in variables:
            del os.environ[name]


@contextmanager
def busy(core: int) -> Iterator[None]:
    """A loop that has a core, and ends with this process."""
    loop = "import os; parent = os.getppid()\nwhile os.getppid() == parent: pass"
    words = ["taskset", "-c", str(core), sys.executable, "-c", loop]
    process = subprocess.Popen(words)
    try:
        yield
    finally:
        process.kill()
        process.wait()


def gate(baseline: list[dict[str, float]]) -> Gate:
    """One gate of this machine, as the verb makes it."""
    deadline = Deadline(time.monotonic() + BUDGET_S - ENDING_S)
    with all_cores() as cores:
        return Decision(cores.look, baseline, deadline.has_time, 0.05).made()


def gate_of(
    kind: str, core: int, baseline: list[dict[str, float]], library: Path
) -> tuple[Gate, str]:
    """A gate of a kind, 'null', 'busy' or a factor, and its verdict in words."""
    if kind == "null":
        result = gate(baseline)
    elif kind == "busy":
        with busy(core):
            result = gate(baseline)
    else:
        with slowed(library, core, kind):
            result = gate(baseline)
    is_right = result.reason.startswith(f"core {core} takes ")
    return result, result.verdict + (", that core" if is_right else "")


def of_this_machine(trials: int) -> None:
    """Print the verdicts of all kinds of gates."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "slow_core.so"
        words = ["cc", "-O1", "-shared", "-fPIC", "-o", str(library), str(HERE / "slow_core.c")]
        subprocess.run(words, check=True)
        baseline: list[dict[str, float]] = []
        while len(baseline) < BASELINE:
            result = gate([])
            baseline += [result.times_s] if result.counts else []
        available = sorted(os.sched_getaffinity(0))
        for kind in ("null", "busy", *FACTORS):
            count = trials * (NULL_FACTOR if kind == "null" else 1)
            verdicts: Counter[str] = Counter()
            for number in range(count):
                core = available[number % len(available)]
                result, words_of_it = gate_of(kind, core, baseline, library)
                verdicts[words_of_it] += 1
                if kind == "null" and result.counts:
                    baseline = [*baseline, result.times_s][-50:]
            print(kind, dict(verdicts), flush=True)


def of_a_lab(trials: int) -> None:
    """Print the verdicts on the pair of nodes of a lab."""
    with tempfile.TemporaryDirectory() as folder:
        words = ["nhalf", "lab", "exec", "--", "nhalf", "gate", "--baseline", folder]
        words += ["--hosts", "n[1-2]", "--launcher", "srun", "--transport", "tcp"]
        for kind, rate, count in (
            ("learning", "1gbit", BASELINE),
            ("null", "1gbit", trials * NULL_FACTOR),
            ("half", "500mbit", trials),
        ):
            link = ["nhalf", "lab", "link", "n2", "--rate", rate]
            subprocess.run(link, check=True, stdout=subprocess.DEVNULL)
            codes = Counter(subprocess.run(words, check=False).returncode for _ in range(count))
            print(kind, "exit codes", dict(codes), flush=True)


def record(gates: int, path: Path, pause_s: float = 0.0) -> None:
    """Append the looks of gates to a file."""
    for number in range(gates):
        time.sleep(pause_s if number else 0.0)
        with all_cores() as cores:
            looks = [cores.look() for _ in range(RECORDED_LOOKS)]
        rows = [
            {
                "times_s": {name: float(f"{time_s:.5g}") for name, time_s in look.times_s.items()},
                "taken_share": round(look.taken_share, 4),
            }
            for look in looks
        ]
        append_whole(path, msgspec.json.encode({"looks": rows}) + b"\n")


if __name__ == "__main__":
    if sys.argv[2:3] == ["record"]:
        record(int(sys.argv[1]), Path(sys.argv[3]), *map(float, sys.argv[4:]))
    elif sys.argv[2:] == ["lab"]:
        of_a_lab(int(sys.argv[1]))
    else:
        of_this_machine(int(sys.argv[1]))
