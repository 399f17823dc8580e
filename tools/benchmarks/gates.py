"""How often `nhalf gate` is wrong: gates whose truth is known.

`python tools/benchmarks/gates.py 1000` prints the table of docs/guide/health-check.md: how many of
1000 simulated gates without a change are no-go, and how many of 50 with one slower core.

`... gates.py 500 FILE` does it with gates that gate_trials.py recorded in a file: each is judged by
others that are drawn from the file; the factor is planted into all looks at one core.

`... gates.py 500 links` does it with pairs of four ranks on the model transport, whose times differ
from launch to launch and from batch to batch, and of which one pair is slower one way.
"""

from __future__ import annotations

import math
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import msgspec
import numpy as np

from nhalf.base.arrays import Floats
from nhalf.base.native_files import executable
from nhalf.decide.check.gate import Decision, Gate, medians
from nhalf.measure.probe.process import Probe
from nhalf.node.all_cores import Look
from nhalf.node.all_pairs import TIMEOUT_S, AllPairs

TOLERANCE = 0.05
LOOKS, PAIR_LOOKS = 18, 12
PAST, TRIALS = 20, 50
RECORDINGS = Path(__file__).parent / "gate_looks.jsonl"
"""From a virtual machine with two cores, beside other work, by a probe at real-time priority."""
FACTORS = (1.1, 1.2, 1.5)
WITHIN = 0.3
"""Looks of a gate differ by this share of what gates differ by."""
Noise = Callable[[np.random.Generator, int, int], Floats]


def normal(random: np.random.Generator, gates: int, times: int) -> Floats:
    """As the theory assumes."""
    return random.standard_normal((gates, times))


def together(random: np.random.Generator, gates: int, times: int) -> Floats:
    """Half of the variance is that of the whole node."""
    shared: Floats = random.standard_normal((gates, 1)) + normal(random, gates, times)
    return shared / math.sqrt(2)


def two_states(random: np.random.Generator, gates: int, times: int) -> Floats:
    """Three of ten gates are in a slower state, together."""
    return 0.3 * normal(random, gates, times) + 2 * (random.random((gates, 1)) < 0.3)


def long_tails(random: np.random.Generator, gates: int, times: int) -> Floats:
    """Student's with four degrees of freedom."""
    tails: Floats = random.standard_t(4, (gates, times))
    return tails / math.sqrt(2)


def simulated(
    random: np.random.Generator, noise: Noise, cores: int, gates: int, deviation: float, slow: float
) -> str:
    """The verdict of one gate after a number of gates; `slow` is the factor of its core 0."""
    names = [*(f"core {number}" for number in range(cores)), "memory 0", "messages"]
    spread = deviation * np.array([1.0] * cores + [2.0, 3.0])
    *past, now = np.exp(spread * noise(random, gates + 1, len(names)))
    now[0] *= slow
    taken = 0

    def look() -> Look:
        nonlocal taken
        taken += 1
        seen = now * np.exp(WITHIN * spread * random.standard_normal(len(names)))
        return Look(dict(zip(names, seen.tolist(), strict=True)))

    baseline = [dict(zip(names, row.tolist(), strict=True)) for row in past]
    return Decision(look, baseline, lambda: taken < LOOKS, TOLERANCE).made().verdict


def recorded(path: Path) -> list[list[dict[str, float]]]:
    """The looks of recorded gates."""
    return [
        [look["times_s"] for look in msgspec.json.decode(line)["looks"]]
        for line in path.read_text("utf-8").splitlines()
    ]


def replayed(
    random: np.random.Generator, gates: list[list[dict[str, float]]], past: int, slow: float
) -> str:
    """The verdict on one of the gates against others; one of its cores is slower by a factor.

    Its looks come in their order, then at random, until there are LOOKS.
    """
    now, *others = [gates[place] for place in random.permutation(len(gates))]
    drawn = random.integers(len(others), size=past)
    baseline = [medians([Look(times_s) for times_s in others[place]]) for place in drawn]
    cores = [name for name in now[0] if name.startswith("core ")]
    core = cores[random.integers(len(cores))]
    looks = [*now, *(now[place] for place in random.integers(len(now), size=LOOKS))]
    taken = iter(looks)
    left = LOOKS

    def look() -> Look:
        nonlocal left
        left -= 1
        times_s = next(taken)
        return Look({**times_s, core: slow * times_s[core]})

    return Decision(look, baseline, lambda: left > 0, TOLERANCE).made().verdict


RANKS = 4
MODEL_NOISE = {"noise": 0.02, "launch_noise": 0.01}
LINK_FACTOR = 2.0


@contextmanager
def on_the_model(seed: int, slow: float) -> Iterator[AllPairs]:
    """A launch on the model machine, each rank a host; from rank 1 to 2 messages are slower."""
    options = {**MODEL_NOISE, "seed": seed, "slow": slow, "slow_from": 1, "slow_to": 2}
    words = [f"{name}={value}" for name, value in options.items()]
    tokens = [str(executable("probe-model")), "--ranks", str(RANKS), "--options", ",".join(words)]
    with Probe(tokens, {}, TIMEOUT_S) as processes:
        for rank, place in enumerate(processes.launch["placement"]):
            place["host"] = f"n{rank}"
        yield AllPairs(processes)


def link_gate(seed: int, slow: float, baseline: list[dict[str, float]]) -> Gate:
    """A gate of all pairs."""
    with on_the_model(seed, slow) as pairs:
        times = iter([True] * PAIR_LOOKS)
        return Decision(
            pairs.look, baseline, lambda: next(times, None) is not None, TOLERANCE
        ).made()


def verdict_with_name(result: Gate) -> str:
    """The verdict, and of a no-go what is slow."""
    slowest = result.reason.partition(" takes ")[0]
    return f"no-go, {slowest}" if result.verdict == "no-go" else result.verdict


def links(gates: int) -> None:
    """Print the verdicts on pairs without a change, and on those with one slower link."""
    baseline = [link_gate(seed, 1.0, []).times_s for seed in range(1, PAST + 1)]
    for slow, count in ((1.0, gates), (LINK_FACTOR, TRIALS)):
        seeds = range(1000, 1000 + count)
        results = [link_gate(seed, slow, baseline) for seed in seeds]
        print(slow, dict(Counter(map(verdict_with_name, results))))


def replays(gates: int, path: Path) -> None:
    """Print the verdicts on recorded gates, as they are and with a slower core."""
    random, recordings = np.random.default_rng(1), recorded(path)
    for slow, count in ((1.0, gates), *((factor, TRIALS) for factor in FACTORS)):
        verdicts = Counter(replayed(random, recordings, PAST, slow) for _ in range(count))
        print(slow, dict(verdicts))


def main(gates: int) -> None:
    """Print a line for each kind of noise, number of cores, gates of the past and deviation."""
    random = np.random.default_rng(1)
    cases = [(normal, 2, past) for past in (8, 20, 50)]
    cases += [(noise, 2, 20) for noise in (together, two_states, long_tails)]
    cases += [(noise, 64, 20) for noise in (normal, together, two_states, long_tails)]
    for noise, cores, past in cases:
        for deviation in (0.005, 0.01, 0.02):
            about = (random, noise, cores, past, deviation)
            alarms = sum(simulated(*about, 1.0) == "no-go" for _ in range(gates))
            found = [
                sum(simulated(*about, factor) == "no-go" for _ in range(TRIALS))
                for factor in FACTORS
            ]
            print(f"{noise.__name__}, {cores} cores, {past} gates, {deviation}: {alarms}, {found}")


if __name__ == "__main__":
    number, of_what = int(sys.argv[1]), sys.argv[2] if len(sys.argv) > 2 else ""
    if of_what == "links":
        links(number)
    elif of_what:
        replays(number, Path(of_what))
    else:
        main(number)
