"""Does `nhalf gate` find a slower core of this machine, and is it ever wrong about a sound one?

`python tools/benchmarks/gate_trials.py 50` makes a baseline of 20 gates, then prints the verdicts
of 500 gates without a change, of 50 beside a busy loop on one core, and of 50 each of which one
core takes 1.1, 1.25 and 2 times as long: another process stops the thread there for a part of every
20 ms (ptrace), which no load shows. The machine should be idle otherwise.

`... gate_trials.py 50 lab` does it on a lab of two nodes that is up (`nhalf lab up --nodes 2 --rate
1gbit`), as root: gates of the pair, with the link as it is and at half its rate.
"""

from __future__ import annotations

import ctypes
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

from nhalf.cli.verbs.gate import ENDING_S, Deadline
from nhalf.decide.check.gate import Decision, Gate
from nhalf.node.all_cores import AllCores, all_cores

SEIZE, INTERRUPT, CONTINUE = 0x4206, 0x4207, 7
ALL_THREADS = 0x40000000
PERIOD_S = 0.02
BUDGET_S = 10.0
BASELINE = 20
NULL_FACTOR = 10
"""This many times as many gates are without a change."""
FACTORS = (1.1, 1.25, 2.0)


def slow_down(process: int, core: int, factor: float) -> None:
    """Let the thread of a process that is bound to a core take `factor` times as long."""
    threads = [int(name) for name in os.listdir(f"/proc/{process}/task")]
    (thread,) = (number for number in threads if os.sched_getaffinity(number) == {core})
    ptrace = ctypes.CDLL(None, use_errno=True).ptrace
    if ptrace(SEIZE, thread, None, None):
        sys.exit(f"thread {thread} cannot be traced: {os.strerror(ctypes.get_errno())}")
    stopped_s = PERIOD_S * (1 - 1 / factor)
    while True:
        time.sleep(PERIOD_S - stopped_s)
        ptrace(INTERRUPT, thread, None, None)
        os.waitpid(thread, ALL_THREADS)
        time.sleep(stopped_s)
        ptrace(CONTINUE, thread, None, None)


@contextmanager
def beside(words: list[str]) -> Iterator[None]:
    """A process for the time of a gate; none without words."""
    process = subprocess.Popen(words) if words else None
    try:
        yield
    finally:
        if process:
            process.kill()
            process.wait()


def words_for(kind: str, cores: AllCores, core: int) -> list[str]:
    """What runs beside a gate of a kind: 'null', 'busy' or a factor."""
    if kind == "null":
        return []
    if kind == "busy":
        return ["taskset", "-c", str(core), sys.executable, "-c", "while True: pass"]
    return [sys.executable, __file__, "slow", str(cores.process), str(core), kind]


def gate_beside(kind: str, core: int, baseline: list[dict[str, float]]) -> Gate:
    """One gate of this machine, as the verb makes it."""
    deadline = Deadline(time.monotonic() + BUDGET_S - ENDING_S)
    with all_cores() as cores, beside(words_for(kind, cores, core)):
        return Decision(cores.look, baseline, deadline.has_time, 0.05).made()


def of_this_machine(trials: int) -> None:
    """Print the verdicts of all kinds of gates."""
    baseline: list[dict[str, float]] = []
    while len(baseline) < BASELINE:
        result = gate_beside("null", 0, [])
        baseline += [result.times_s] if result.counts else []
    available = sorted(os.sched_getaffinity(0))
    for kind in ("null", "busy", *map(str, FACTORS)):
        count = trials * (NULL_FACTOR if kind == "null" else 1)
        verdicts: Counter[str] = Counter()
        for number in range(count):
            core = available[number % len(available)]
            result = gate_beside(kind, core, baseline)
            is_right = result.reason.startswith(f"core {core} takes ")
            verdicts[result.verdict + (", that core" if is_right else "")] += 1
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


if __name__ == "__main__":
    if sys.argv[1] == "slow":
        slow_down(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4]))
    elif sys.argv[2:] == ["lab"]:
        of_a_lab(int(sys.argv[1]))
    else:
        of_this_machine(int(sys.argv[1]))
