"""Measurements that no sane machine gives, and what no reader should have to see."""

from __future__ import annotations

import random
import re
from collections.abc import Iterator
from typing import Any

import polars as pl

from nhalf.facts.facts import Facts
from nhalf.store.keys import MEASUREMENT_COLUMNS
from tests.nhalf.synthetic import USUAL

LIBRARIES = ("mpich", "openmpi", "intel")
SIZES = [0, 1, 8, 64, 1024, 4096, 65536, 2**20]
HUGE = [0.0, 1e-12, 1e-9, 1e-6, 1.0, 1e12]
ODD = [*HUGE, float("nan"), float("inf"), -1.0]
PATTERNS = {
    "pingpong": [""],
    "stream": [""],
    "pingping": [""],
    "pingpong-ssend": [""],
    "pingpong-diffbuf": [""],
    "primitive": ["op=put", "op=signal", "op=map"],
    "overhead-send": [""],
    "overhead-recv": [""],
    "gap": [""],
    "roundtrip": [""],
    "allreduce": ["", "start=barrier"],
    "bcast": ["", "buffers=cold"],
    "barrier": [""],
    "iallreduce": ["work=1"],
    "distance": ["first=0,second=1", "first=0,second=2"],
    "load": ["pairs=1", "pairs=2"],
    "traffic": ["load=0,to=uniform", "load=50,to=uniform", "load=100,to=uniform"],
    "work-barrier": ["grain=1000", "grain=100000"],
    "pair-map-bandwidth": ["direction=up,round=1", "direction=down,round=2"],
}
NAMES = ("flag_before_s", "flag_after_s", "offered_Bps", "saturated_Bps", "delay_s", "overlap",
         "pure_s", "clock_uncertainty_s", "true_s", "peer_of_0", "peer_of_1")  # fmt: skip


def hostile_facts(seed: int) -> Facts:
    """One to four patterns, with times that are 0, equal, of a second or of a picosecond."""
    frame = pl.DataFrame(hostile_rows(seed), schema=MEASUREMENT_COLUMNS).lazy()
    return Facts(frame, {"mpich": "MPICH 5.0.2"}, {"run": hostile_environment(seed)})


def hostile_environment(seed: int) -> dict[str, Any]:
    """A host with caches, and a precision that nobody can mean."""
    return {
        "host": "n1",
        "caches": {"L1_bytes": 32768, "L2_bytes": 2**20},
        "plan": {"precision": random.Random(f"environment {seed}").choice(ODD)},
    }


def hostile_rows(seed: int, visit: int = 0) -> list[dict[str, Any]]:
    """The measurements of a seed; another visit has the same points with other times."""
    chosen = random.Random(seed)
    libraries = LIBRARIES[: chosen.randint(1, 3)]
    patterns = chosen.sample(sorted(PATTERNS), chosen.randint(1, 4))
    sizes = sorted(chosen.sample(SIZES, chosen.randint(1, len(SIZES))))
    draw = random.Random(f"{seed} {visit}")
    return [
        row
        for library in libraries
        for launch in range(draw.choice((1, 1, 2, 3, 5)))
        for pattern in patterns
        for axes in PATTERNS[pattern]
        for row in _points(draw, library, launch, pattern, axes, sizes)
    ]


def _points(
    draw: random.Random, library: str, launch: int, pattern: str, axes: str, sizes: list[int]
) -> Iterator[dict[str, Any]]:
    kind = draw.choice(("equal", "zero", "huge", "sane", "wide"))
    for position, size in enumerate(sizes):
        if draw.random() < 0.05:
            continue
        time_s = {
            "equal": 1e-6,
            "zero": draw.choice((0.0, 1e-9)),
            "huge": draw.choice(HUGE),
            "sane": (1e-6 + size * 1e-9) * draw.lognormvariate(0, 0.05),
            "wide": 1e-6 * 10 ** draw.uniform(-6, 6),
        }[kind]
        samples = [time_s] * draw.choice((1, 3, 20))
        several = pattern in ("allreduce", "bcast", "barrier", "pair-map-bandwidth")
        named = {name: draw.choice(HUGE) for name in NAMES if draw.random() < 0.3}
        yield {
            **USUAL,
            "mpi": library,
            "pattern": pattern,
            "axes": axes,
            "bytes": size,
            "ranks": 4 if several or pattern == "traffic" else 2,
            "launch": launch,
            "position": position,
            "bytes_per_time": draw.choice((size, size, 0, 2**40)),
            "samples_s": samples,
            "rank_s": [draw.choice(HUGE) for _ in range(4)] if several else [],
            "values": [{"name": name, "value": value} for name, value in sorted(named.items())],
            "advice": draw.sample(
                ("timer-coarse", "oversubscribed", "unpinned"), draw.randint(0, 1)
            ),
        }


NUMBER = re.compile(r"(?<![\w.])\d[\d.]*")
ABSURD = re.compile(r"(?i)\b(?:nan|inf|infinity)\b|±1000")
DIGITS_MAX = 7


def absurd(text: str) -> list[str]:
    """What no reader should have to see: no numbers, and numbers of more than seven digits."""
    long_numbers = [
        number
        for number in NUMBER.findall(text)
        if len(number.replace(".", "").lstrip("0")) > DIGITS_MAX
    ]
    return [*ABSURD.findall(text), *long_numbers]
