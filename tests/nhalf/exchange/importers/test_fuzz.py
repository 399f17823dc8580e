"""No text makes an importer crash, and whatever comes out of one keeps what points promise.

Every example of hypothesis is a log and a seed, from which a hundred damaged logs are made.
20,000 damaged logs in `make test`; NHALF_FUZZ=N makes `make test-full` ask for N.
"""

from __future__ import annotations

import math
import os
import random
from collections.abc import Callable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from nhalf.base.plugins import load
from nhalf.exchange.importers import Importer
from nhalf.exchange.logs.log import Log, decode, formats, is_valid, read_text
from nhalf.exchange.logs.part import LogPart

LOGS = Path(__file__).resolve().parents[3] / "data" / "logs"
SAMPLES = {path.name: decode(path.read_bytes()) for path in sorted(LOGS.iterdir())}
BATCH = 100
FEW = 5_000
MANY = int(os.environ.get("NHALF_FUZZ", "500000"))

TOKENS = (
    "nan", "-inf", "inf", "1e308", "-1", "0", "0.00", "1e-320", "9" * 30, "9" * 5000, "1,5",
    "1.234,5", "1,234.5", "12\xa0345", "\u202f", "\x00", "\ufeff", "\ufffd", "٣", "#", "# ", ":",
    "\t", "\r", "\x0c", "\x1b[31m", "=", "[", "]", "{", '"size":', "Pass", "Fail", "N/A", " " * 99,
    "-->", "in", "usec", "MB", "to", "from", "MPI_Bcast", "errorcode", "1099511627777", "_", "²",
)  # fmt: skip
LINES = tuple(line for text in SAMPLES.values() for line in text.splitlines() if line.strip())


def cut(text: str, rng: random.Random) -> str:
    return text[: rng.randrange(len(text) + 1)]


def behead(text: str, rng: random.Random) -> str:
    return text[rng.randrange(len(text) + 1) :]


def drop(text: str, rng: random.Random) -> str:
    start = rng.randrange(len(text) + 1)
    return text[:start] + text[start + rng.randrange(1, 40) :]


def insert(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return text[:place] + rng.choice(TOKENS) + text[place:]


def scramble(text: str, rng: random.Random) -> str:
    place = rng.randrange(len(text) + 1)
    return (
        text[:place] + chr(rng.choice((0, 9, 10, 32, 45, 46, 48, 160, 0x2028))) + text[place + 1 :]
    )


def another_token(text: str, rng: random.Random) -> str:
    words = text.split(" ")
    words[rng.randrange(len(words))] = rng.choice(TOKENS)
    return " ".join(words)


def interleave(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    lines.insert(rng.randrange(len(lines) + 1), rng.choice(LINES) + rng.choice(("\n", "", " ")))
    return "".join(lines)


def swap(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    rng.shuffle(lines)
    return "".join(lines)


def repeat(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    if not lines:
        return text
    place = rng.randrange(len(lines))
    return "".join(lines[:place] + lines[place : place + 3] * 3 + lines[place + 3 :])


def commas(text: str, rng: random.Random) -> str:
    return text.replace(".", ",")


CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    cut, behead, drop, insert, scramble, another_token, interleave, swap, repeat, commas,
)  # fmt: skip


def damaged(text: str, rng: random.Random) -> str:
    """A log after one to four changes."""
    for _ in range(rng.randrange(1, 5)):
        text = rng.choice(CHANGES)(text, rng)
    return text


def check(log: Log, ranks: int) -> None:
    """What every point promises, in words of its own, not in those of `sound`."""
    for point in log.points:
        assert point.samples_s
        for time_s in point.samples_s:
            assert isinstance(time_s, float)
            assert math.isfinite(time_s)
            assert time_s > 0
        assert type(point.size_bytes) is int
        assert point.size_bytes >= 0
        assert type(point.ranks) is int
        assert point.ranks >= (1 if ranks else 0)
        assert point.ranks < 1 << 31
        assert point.verified is True or point.verified is False
        assert 0 <= point.bytes_per_time < 1 << 63
        assert point.pattern == point.pattern.lower().strip("-")
        assert point.pattern
        assert all(math.isfinite(value) for value in point.values.values())
        assert all(math.isfinite(value) for value in point.rank_s)
    assert all(over.line >= 1 for over in log.passed_over)


@pytest.mark.timeout(0)
@pytest.mark.parametrize("inputs", [FEW, pytest.param(MANY, marks=pytest.mark.full)])
def test_damaged_logs_are_read_as_far_as_they_are_sound(inputs: int) -> None:
    seen = {"inputs": 0, "points": 0}

    @settings(
        max_examples=max(1, inputs // BATCH),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(name=st.sampled_from(sorted(SAMPLES)), seed=st.integers(0, 2**32))
    def examples(name: str, seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(BATCH):
            text = damaged(SAMPLES[name], rng)
            log = read_text(text, ranks=4)
            check(log, ranks=4)
            seen["inputs"] += 1
            seen["points"] += len(log.points)

    examples()
    assert seen["inputs"] >= inputs - BATCH
    # The damage leaves something to check.
    assert seen["points"] > seen["inputs"]


@settings(max_examples=300, deadline=None, database=None, derandomize=True)
@given(st.text(max_size=400), st.sampled_from(sorted(formats())))
def test_any_text_at_all(text: str, name: str) -> None:
    importer = load("nhalf.exchange.importers", Importer)[name]()
    check(read_text(f"{importer.marks[0]}\n{text}", ranks=2), ranks=2)
    found = importer.read(LogPart(text.splitlines() or [""], ranks=2))
    check(Log([point for point in found if is_valid(point)]), ranks=2)


@settings(max_examples=200, deadline=None, database=None, derandomize=True)
@given(st.binary(max_size=400))
def test_any_bytes_at_all(content: bytes) -> None:
    for head in (b"", b"\xff\xfe", b"\xfe\xff", b"\xff\xfe\x00\x00", b"\xef\xbb\xbf", b"# OSU "):
        check(read_text(decode(head + content)), ranks=0)


HOSTILE = {
    "digits": lambda n: "1" * n,
    "spaces": lambda n: " " * n + "x",
    "commas": lambda n: "1," * n,
    "groups": lambda n: "1" + ",000" * n,
    "points": lambda n: "1" + ".000" * n,
    "escapes": lambda n: "\x1b[" * n,
    "colours": lambda n: "\x1b[" + "1;" * n,
    "brackets": lambda n: "[1,0]<stdout>" * n,
    "labels": lambda n: "0: " * n,
    "braces": lambda n: '{"size":' * n,
    "lists": lambda n: '{"size":' + "[" * n,
    "strings": lambda n: '{"size": "' * n,
    "arguments": lambda n: '"args":["' * n,
    "columns": lambda n: "# Size" + "p50taillat" * n + "(us)",
    "init": lambda n: "nprocs:" + " " * n + "4, min:" * n,
    "names": lambda n: "a_" * n + "perf",
    "matrix": lambda n: "Send\t" + "a:1\t" * n,
    "launcher": lambda n: "mpirun " + "-np " * n,
    "minus": lambda n: "mpi-" * n,
    "rows": lambda n: "8 1.00\n" * (n // 8),
    "titles": lambda n: "# OSU MPI Latency Test\n" * (n // 20),
}


@pytest.mark.sampled(2)
@pytest.mark.timeout(150)
@pytest.mark.parametrize("kind", sorted(HOSTILE))
def test_hostile_lines_are_read_in_the_time_of_their_length(kind: str) -> None:
    """What takes the square of this length does not end within the limit of the test."""
    line = HOSTILE[kind](100_000)
    importers = load("nhalf.exchange.importers", Importer).values()
    text = "".join(f"{kind.marks[0]}\n{line}\n8  {line}\n" for kind in importers)
    check(read_text(f"{text}{SAMPLES['osu_latency_7_5.txt']}", ranks=2), ranks=2)
    check(read_text(line, ranks=2), ranks=2)
