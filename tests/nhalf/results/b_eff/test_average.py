# SPDX-License-Identifier: Apache-2.0
"""b_eff against a script of its own: the machine event by event, the patterns, the averaging.

The script shares nothing with nhalf but the definition; random orders come from its own
mt19937_64 (M. Matsumoto, T. Nishimura).
"""

from __future__ import annotations

import itertools
import json
import math
import os
import subprocess
import sys
from collections import defaultdict, deque
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from nhalf.base.errors import MissingError
from nhalf.base.native_files import executable
from nhalf.results.b_eff.average import b_eff, curves, pingpong, rates
from nhalf.statistics.intervals import launch_interval
from nhalf.statistics.summary import summarise
from nhalf.store.schema import MEASUREMENT_COLUMNS
from tests.patience import patience_s

METHODS = ("sendrecv", "alltoallv", "nonblocking")
LONGEST = 16384
LENGTHS = [2**k for k in range(13)] + [round(4096 * 4 ** (j / 8)) for j in range(1, 9)]

USUAL = {"o_s": 1e-6, "o_r": 1e-6, "g": 2e-6, "L": 5e-6, "G": 1e-10}
GAPS = {"o_s": 1e-6, "o_r": 3e-6, "g": 40e-6, "L": 2e-6, "G": 2e-9}
SLOW_BYTES = {"o_s": 4e-6, "o_r": 0.5e-6, "g": 7e-6, "L": 1e-6, "G": 3e-8}


def has_model() -> bool:
    try:
        executable("probe-model")
    except MissingError:
        return False
    return True


# The patterns.


def twister(seed: int) -> Iterator[int]:
    words = [seed % 2**64]
    for i in range(1, 312):
        words.append((6364136223846793005 * (words[-1] ^ words[-1] >> 62) + i) % 2**64)
    for start in itertools.count():
        i, j, k = start % 312, (start + 1) % 312, (start + 156) % 312
        mixed = words[i] & 0xFFFFFFFF80000000 | words[j] & 0x7FFFFFFF
        words[i] = words[k] ^ mixed >> 1 ^ (0xB5026F5AA96619E9 if mixed & 1 else 0)
        x = words[i]
        x ^= x >> 29 & 0x5555555555555555
        x ^= x << 17 & 0x71D67FFFEDA60000
        x ^= x << 37 & 0xFFF7EEE000000000
        yield x ^ x >> 43


def neighbours(ranks: int, ring: int) -> dict[int, tuple[int, int]]:
    """By rank: the next and the one before."""
    if ring > 6:
        order = list(range(ranks))
        random = twister(65537 + ring)
        for left in range(ranks, 1, -1):
            other = next(random) % left
            order[left - 1], order[other] = order[other], order[left - 1]
        rings = [order]
    else:
        target = min(ranks, (2, 4, 8, max(16, ranks // 4), max(32, ranks // 2), ranks)[ring - 1])
        count = max(1, min(int(ranks / target + 0.4), ranks // 2))
        base, longer = divmod(ranks, count)
        sizes = [base] * (count - longer) + [base + 1] * longer
        if base % 2:
            sizes.reverse()
        everybody = iter(range(ranks))
        rings = [list(itertools.islice(everybody, size)) for size in sizes]
    return {
        rank: (members[(i + 1) % len(members)], members[i - 1])
        for members in rings
        for i, rank in enumerate(members)
    }


def round_of(rank: int, ranks: int, beside: tuple[int, int], method: str) -> list[tuple[str, int]]:
    """What a rank does in one round, in order: sends and receives with their peer."""
    after, before = beside
    pairs = [(after, before)] if after == before else [(after, before), (before, after)]
    if method == "sendrecv":
        return [step for to, source in pairs for step in (("send", to), ("recv", source))]
    if method == "nonblocking":
        return [("send", to) for to, _ in pairs] + [("recv", source) for _, source in pairs]
    # Alltoallv on messages: the nearest rank first, upwards for sends, downwards for receives.
    return [
        *(("send", to) for to in sorted((to for to, _ in pairs), key=lambda r: (r - rank) % ranks)),
        *(("recv", s) for s in sorted((s for _, s in pairs), key=lambda r: (rank - r) % ranks)),
    ]


# The machine.


class Machine:
    """LogGP, one message after the other."""

    def __init__(self, ranks: int, o_s: float, o_r: float, g: float, L: float, G: float) -> None:
        self.o_s, self.o_r, self.g, self.latency, self.per_byte = o_s, o_r, g, L, G
        self.clock = [0.0] * ranks
        self.free = [0.0] * ranks
        self.taken = [-math.inf] * ranks

    def batch(self, programs: list[list[tuple[str, int]]], size: int) -> float:
        """One round from a common start; the time of the slowest rank."""
        start = max(self.clock)
        self.clock = [start] * len(programs)
        self.free = [start] * len(programs)
        arrivals: dict[tuple[int, int], deque[float]] = defaultdict(deque)
        left = [deque(program) for program in programs]
        while any(left):
            for rank, steps in enumerate(left):
                while steps:
                    what, peer = steps[0]
                    if what == "send":
                        arrivals[rank, peer].append(self.send(rank, size))
                    elif arrivals[peer, rank]:
                        self.receive(rank, arrivals[peer, rank].popleft(), size)
                    else:
                        break
                    steps.popleft()
        return max(self.clock) - start

    def send(self, rank: int, size: int) -> float:
        begin = max(self.clock[rank], self.free[rank])
        self.clock[rank] = begin + self.o_s
        self.free[rank] = begin + self.g + size * self.per_byte
        return self.clock[rank] + size * self.per_byte + self.latency

    def receive(self, rank: int, arrival: float, size: int) -> None:
        self.taken[rank] = max(arrival, self.taken[rank] + self.g + size * self.per_byte)
        self.clock[rank] = max(self.clock[rank], self.taken[rank]) + self.o_r


def settled(machine: Machine, programs: list[list[tuple[str, int]]], size: int) -> float:
    """The time of a round once it repeats itself."""
    before, now = math.nan, machine.batch(programs, size)
    for _ in range(12):
        before, now = now, machine.batch(programs, size)
    assert now == pytest.approx(before, rel=1e-10), "the script does not settle"
    return now


def own_rates(ranks: int, parameters: dict[str, float]) -> dict[tuple[int, str, int], float]:
    """Bytes per second by pattern, method and length."""
    found = {}
    for ring in range(1, 37):
        beside = neighbours(ranks, ring)
        messages = sum(1 if after == before else 2 for after, before in beside.values())
        for method in METHODS:
            programs = [round_of(rank, ranks, beside[rank], method) for rank in range(ranks)]
            for size in LENGTHS:
                time_s = settled(Machine(ranks, **parameters), programs, size)
                found[ring, method, size] = messages * size / time_s
    return found


def geometric(values: list[float]) -> float:
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def own_b_eff(found: dict[tuple[int, str, int], float]) -> tuple[float, float, float]:
    """b_eff and its two parts from rates that are maxima over repetitions already."""
    patterns = []
    for ring in range(1, 37):
        best = [max(found[ring, method, size] for method in METHODS) for size in LENGTHS]
        patterns.append(math.fsum(best) / 21)
    rings, random = geometric(patterns[:6]), geometric(patterns[6:])
    return geometric([rings, random]), rings, random


# What nhalf measures.


def measured(ranks: int, parameters: dict[str, float]) -> pl.LazyFrame:
    """Every point, measured by the probe in one launch of the model."""
    points = list(itertools.product(range(1, 37), METHODS, LENGTHS))
    lines = [
        f"id={number} pattern=ring bytes={size} slice_s=0.01 axis.ring={ring} axis.method={method}"
        for number, (ring, method, size) in enumerate(points)
    ]
    options = ",".join(f"{name}={value}" for name, value in parameters.items())
    output = subprocess.run(
        [str(executable("probe-model")), "--ranks", str(ranks), "--options", options],
        input="\n".join([*lines, "end", ""]),
        capture_output=True,
        text=True,
        check=True,
        timeout=patience_s(300),
    ).stdout
    records = [json.loads(line) for line in output.splitlines()]
    answers = [record for record in records if record["nhalf"] == "point"]
    assert [int(record["id"]) for record in answers] == list(range(len(points)))
    assert all(record["verified"] for record in answers)
    return frame(
        [
            {
                "ranks": ranks,
                "axes": f"method={method},ring={ring}",
                "bytes": size,
                "bytes_per_time": record["bytes_per_time"],
                "samples_s": record["samples_s"],
            }
            for (ring, method, size), record in zip(points, answers, strict=True)
        ]
    )


def frame(rows: list[dict[str, Any]]) -> pl.LazyFrame:
    """Rows as measurements, with what they do not say filled in."""
    usual: dict[str, Any] = {
        "run": "run", "transport": "model", "mpi": "", "pattern": "ring", "algorithm": "native",
        "ranks": 4, "placement": "cores", "axes": "", "bytes": 1, "launch": 0, "position": 0,
        "started_s": 0.0, "batch": 1, "messages_per_round": 1, "bytes_per_time": 1,
        "stop": "precision", "verified": True, "advice": [], "samples_s": [], "rank_s": [],
        "values": [],
    }  # fmt: skip
    return pl.DataFrame([usual | row for row in rows], schema=MEASUREMENT_COLUMNS).lazy()


@pytest.mark.skipif(not has_model(), reason="probe-model is not built")
@pytest.mark.parametrize(
    ("ranks", "parameters"),
    [
        (2, USUAL),
        (5, GAPS),
        (4, SLOW_BYTES),
        *(pytest.param(ranks, USUAL, marks=pytest.mark.full) for ranks in (4, 5, 7, 8)),
        *(pytest.param(ranks, GAPS, marks=pytest.mark.full) for ranks in (2, 8)),
        pytest.param(7, SLOW_BYTES, marks=pytest.mark.full),
    ],
)
def test_b_eff_of_the_model_is_what_the_script_computes(
    ranks: int, parameters: dict[str, float]
) -> None:
    found = own_rates(ranks, parameters)
    points = measured(ranks, parameters)
    for row in rates(points).iter_rows(named=True):
        wanted = found[row["ring"], row["method"], row["bytes"]]
        assert row["rate_Bps"] == pytest.approx(wanted, rel=1e-9), row
    (row,) = b_eff(points)
    whole, rings, random = own_b_eff(found)
    assert row["missing"] == ""
    assert row["b_eff_Bps"] == pytest.approx(whole, rel=1e-9)
    assert row["rings_Bps"] == pytest.approx(rings, rel=1e-9)
    assert row["random_Bps"] == pytest.approx(random, rel=1e-9)
    assert row["b_eff_per_process_Bps"] == pytest.approx(whole / ranks, rel=1e-9)


def test_the_script_knows_a_round_in_closed_form() -> None:
    o_s, o_r, latency, per_byte = 1e-6, 1e-6, 5e-6, 1e-10
    one_way = o_s + latency + o_r
    found = own_rates(8, USUAL)
    for size in LENGTHS:
        times_s = {method: 16 * size / found[6, method, size] for method in METHODS}
        assert times_s["sendrecv"] == pytest.approx(2 * (one_way + size * per_byte), rel=1e-12)
        second = max(o_s, USUAL["g"] + size * per_byte)
        assert times_s["nonblocking"] == pytest.approx(
            second + one_way + size * per_byte, rel=1e-12
        )
        # Rings of two: one message each way.
        assert 8 * size / found[1, "sendrecv", size] == pytest.approx(
            one_way + size * per_byte, rel=1e-12
        )


# The averaging, on rates that are made up.


def made_up(
    rate_Bps: Callable[[int, str, int, int], float], launches: int = 1, ranks: int = 4
) -> list[dict[str, Any]]:
    """Points whose messages move 1000 bytes; `rate_Bps` of pattern, method, length, launch."""
    return [
        {
            "ranks": ranks,
            "axes": f"method={method},ring={ring}",
            "bytes": size,
            "bytes_per_time": 1000,
            "launch": launch,
            "samples_s": [1000 / rate_Bps(ring, method, size, launch)] * 3,
        }
        for launch in range(launches)
        for ring in range(1, 37)
        for method in METHODS
        for size in LENGTHS
    ]


def only(rows: list[dict[str, Any]]) -> dict[str, Any]:
    (row,) = b_eff(frame(rows))
    return row


def test_means_over_lengths_are_arithmetic_over_patterns_geometric() -> None:
    def rate(ring: int, method: str, size: int, launch: int) -> float:
        return ring * (size == LONGEST) * 2100.0 + ring

    row = only(made_up(rate))
    rings = geometric([r * 101.0 for r in range(1, 7)])
    random = geometric([r * 101.0 for r in range(7, 37)])
    assert row["rings_Bps"] == pytest.approx(rings, rel=1e-12)
    assert row["random_Bps"] == pytest.approx(random, rel=1e-12)
    assert row["b_eff_Bps"] == pytest.approx(math.sqrt(rings * random), rel=1e-12)
    assert row["longest_bytes"] == LONGEST
    at_longest = geometric([r * 2101.0 for r in range(1, 7)])
    assert row["rings_at_longest_Bps"] == pytest.approx(at_longest, rel=1e-12)
    assert row["rings_at_longest_per_process_Bps"] == pytest.approx(at_longest / 4, rel=1e-12)


def test_maxima_are_taken_over_launches_and_methods_of_each_length() -> None:
    """Each length has its own best method and launch: means of wholes would be smaller."""

    def rate(ring: int, method: str, size: int, launch: int) -> float:
        index = LENGTHS.index(size)
        return 900.0 if METHODS[index % 3] == method and index % 2 == launch else 100.0

    row = only(made_up(rate, launches=2))
    assert row["b_eff_Bps"] == pytest.approx(900, rel=1e-12)
    assert row["by_method_Bps"]["sendrecv"] == pytest.approx((7 * 900 + 14 * 100) / 21, rel=1e-12)


def test_the_time_of_a_launch_is_the_median_of_its_samples() -> None:
    rows = made_up(lambda *_: 1000.0)
    for row in rows:
        row["samples_s"] = [0.5, 1.0, 100.0]
    assert only(rows)["b_eff_Bps"] == pytest.approx(1000, rel=1e-12)


def test_the_interval_is_that_of_whole_launches_stretched_to_the_value() -> None:
    levels = [100.0, 104.0, 98.0, 101.0, 103.0]
    row = only(made_up(lambda ring, method, size, launch: levels[launch], launches=5))
    wanted = launch_interval(levels)
    assert row["b_eff_Bps"] == pytest.approx(104, rel=1e-12)
    assert row["b_eff_Bps_ci"] == pytest.approx([wanted.low, max(wanted.high, 104)], rel=1e-9)
    assert row["b_eff_per_process_Bps_ci"] == pytest.approx(
        [end / 4 for end in row["b_eff_Bps_ci"]], rel=1e-12
    )
    assert row["launches"] == 5


def test_one_launch_has_no_interval_and_an_incomplete_one_does_not_count() -> None:
    assert not any(name.endswith("_ci") for name in only(made_up(lambda *_: 1.0)))
    row = only(made_up(lambda *_: 1.0, launches=3)[:-1])
    assert row["launches"] == 2
    assert row["b_eff_Bps_ci"] == [1.0, 1.0]


@pytest.mark.parametrize(
    ("left_out", "words"),
    [
        (lambda row: row["bytes"] in (LONGEST, 2), "19 of 21 lengths"),
        (lambda row: row["bytes"] > 4096, "13 of 21 lengths"),
        (lambda row: row["axes"].startswith("method=alltoallv"), "2 of 3 methods"),
        (lambda row: row["axes"].endswith(("ring=1", "ring=36")), "34 of 36 patterns"),
        (
            lambda row: row["bytes"] == 1 or "sendrecv" in row["axes"],
            "measured are 20 of 21 lengths, 2 of 3 methods",
        ),
        (
            lambda row: row["bytes"] == 64 and row["axes"] == "method=sendrecv,ring=9",
            "measured are 2267 of 2268 points",
        ),
    ],
)
def test_what_is_missing_is_said_instead_of_a_number(
    left_out: Callable[[dict[str, Any]], bool], words: str
) -> None:
    rows = [row for row in made_up(lambda *_: 1.0, launches=2) if not left_out(row)]
    row = only(rows)
    assert words in row["missing"]
    assert not any(name.endswith("_Bps") for name in row)


@pytest.mark.parametrize(
    "spoiled",
    [{"samples_s": []}, {"samples_s": [0.0]}, {"verified": False}, {"bytes_per_time": 0}],
)
def test_points_without_a_rate_are_missing(spoiled: dict[str, Any]) -> None:
    rows = made_up(lambda *_: 1.0)
    rows[5] |= spoiled
    assert "2267 of 2268 points" in only(rows)["missing"]


def test_other_lengths_are_not_those_of_b_eff() -> None:
    rows = made_up(lambda *_: 1.0)
    for row in rows:
        row["bytes"] += 1 if row["bytes"] == LENGTHS[15] else 0
    assert "not those" in only(rows)["missing"]


def test_further_lengths_do_no_harm() -> None:
    rows = made_up(lambda *_: 1.0)
    more = [row | {"bytes": 3, "samples_s": [1.0]} for row in rows if row["bytes"] == 1]
    assert only(rows + more)["b_eff_Bps"] == pytest.approx(1.0, rel=1e-12)


def test_nothing_measured_gives_no_row() -> None:
    assert b_eff(frame([])) == []
    assert b_eff(frame([{"pattern": "pingpong", "samples_s": [1.0]}])) == []
    assert only([{"axes": "method=sendrecv,ring=1", "samples_s": [1.0], "ranks": 1}])["missing"]


def test_ranks_libraries_and_seeds_are_apart() -> None:
    rows = made_up(lambda *_: 1.0)
    other = [row | {"ranks": 8} for row in rows]
    seeded = [row | {"axes": row["axes"] + ",seed=7"} for row in rows]
    found = b_eff(frame(rows + other + seeded))
    assert sorted((row["ranks"], row["seed"]) for row in found) == [(4, "1"), (4, "7"), (8, "1")]


def test_curves_hold_the_best_method_of_each_length() -> None:
    def rate(ring: int, method: str, size: int, launch: int) -> float:
        level = (2.0 if ring <= 6 else 1.0) * (METHODS.index(method) + 1)
        return level * (1 + 0.01 * launch)

    shown = curves(rates(frame(made_up(rate, launches=3))))
    for kind, level in (("rings", 6.0), ("random", 3.0)):
        found = shown.filter(kind=kind)
        wanted = launch_interval([level, 1.01 * level, 1.02 * level])
        assert found["bytes"].to_list() == LENGTHS
        assert found["rate_Bps"].to_list() == pytest.approx([1.02 * level] * 21, rel=1e-12)
        assert found["low_Bps"].to_list() == pytest.approx([wanted.low] * 21, rel=1e-9)
        assert found["high_Bps"].to_list() == pytest.approx([wanted.high] * 21, rel=1e-9)
        assert set(found["launches"]) == {3}


def test_curves_of_parts_are_drawn_as_far_as_they_go() -> None:
    rows = made_up(lambda *_: 1.0)[:1] + made_up(lambda *_: 1.0, launches=2)[-1:]
    shown = curves(rates(frame(rows)))
    assert shown.select("kind", "bytes", "low_Bps", "rate_Bps", "high_Bps", "launches").rows() == [
        ("rings", 1, 1.0, 1.0, 1.0, 1),
        ("random", LONGEST, 1.0, 1.0, 1.0, 1),
    ]
    assert curves(rates(frame([]))).is_empty()


def test_pingpong_of_the_same_run_stands_beside() -> None:
    pair = {"pattern": "pingpong", "ranks": 2}
    measurements = frame(
        [
            pair | {"bytes": size, "bytes_per_time": size, "launch": launch, "samples_s": [time_s]}
            for launch in (0, 1)
            for size, time_s in ((0, 1e-6), (1000, 2e-6), (8000, 10e-6))
        ]
        + [pair | {"run": "other", "bytes": 0, "samples_s": [1e-9]}]
    )
    row = {"run": "run", "transport": "model", "mpi": "", "ranks": 4, "placement": "cores"}
    found = pingpong(summarise(measurements), row)
    assert found["pingpong_latency_s"] == pytest.approx(1e-6)
    assert found["pingpong_latency_s_ci"] == pytest.approx([1e-6, 1e-6])
    assert found["pingpong_bandwidth_Bps"] == pytest.approx(8e8)
    assert found["pingpong_bandwidth_Bps_ci"] == pytest.approx([8e8, 8e8])
    assert pingpong(summarise(measurements), row | {"run": "neither"}) == {}


@pytest.mark.skipif(not has_model(), reason="probe-model is not built")
@pytest.mark.slow
def test_the_whole_chain_gives_the_value_of_the_script(tmp_path: Path) -> None:
    options = ",".join(f"{name}={value}" for name, value in GAPS.items())
    arguments = ["run", "beff", "--transport", "model", "--model", options, "--ranks", "5"]
    arguments += ["--bytes", "b_eff:16K", "--launches", "1", "--out", str(tmp_path / "r"), "--json"]
    done = subprocess.run(
        [sys.executable, "-m", "nhalf", *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
        capture_output=True,
        text=True,
        check=True,
    )
    [row] = json.loads(done.stdout)["results"]["b_eff"]["rows"]
    whole, rings, random = own_b_eff(own_rates(5, GAPS))
    assert row["missing"] == ""
    assert (row["ranks"], row["longest_bytes"]) == (5, LONGEST)
    assert row["b_eff_Bps"] == pytest.approx(whole, rel=1e-9)
    assert row["rings_Bps"] == pytest.approx(rings, rel=1e-9)
    assert row["random_Bps"] == pytest.approx(random, rel=1e-9)
