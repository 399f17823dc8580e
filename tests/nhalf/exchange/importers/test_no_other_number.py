"""No import has a number that is not in its log, whatever happened to the log.

Logs are damaged, given the prefixes of launchers and collectors, mixed with each other and
repeated. Every time that is imported is then, in a documented unit, a number of the log, and of the
row of its size where rows have sizes.
"""

from __future__ import annotations

import bisect
import os
import random
import re
from collections.abc import Callable, Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from nhalf.base.errors import InputError
from nhalf.exchange.importers import Imported
from nhalf.exchange.logs.log import plain_lines, read_text
from tests.nhalf.exchange.importers.test_fuzz import SAMPLES, damaged

DERIVED = ("reprompi_verbose.txt", "nccl_tests.json")
"""Times of these are differences, and medians over ranks."""
DERIVED_MARKS = ('"nccl_version"', "loc_tstart_sec", '"iterations"')
NAMES = sorted(SAMPLES.keys() - set(DERIVED))
BATCH = 50
FEW = 1_000
MANY = int(os.environ.get("NHALF_FUZZ", "500000")) // 10
_NUMBER = re.compile(r"[-+]?(?:\d[\d.,'\u202f\xa0]*|[.,]\d+)(?:[eE][-+]?\d+)?")
PER_SECOND = (1.0, 1e3, 1e6, 1e9)
UNITS_BPS = (1.0, 1e3, 1e6, 1e9, 2**10, 2**20, 2**30, 1e6 / 8, 1e9 / 8, 2**20 / 8)
WITH_ROWS = ("imb", "osu", "netpipe")
CLOSE = 1e-6


def prefixed(prefix: str) -> Callable[[str, random.Random], str]:
    return lambda text, _: "".join(f"{prefix}{line}" for line in text.splitlines(keepends=True))


def stamped(text: str, rng: random.Random) -> str:
    lines = text.splitlines(keepends=True)
    return "".join(f"2026-11-27T07:{rng.randrange(60):02}:0{rng.randrange(9)}Z {x}" for x in lines)


def coloured(text: str, rng: random.Random) -> str:
    return "".join(f"\x1b[1;3{rng.randrange(8)}m{line}\x1b[0m\n" for line in text.splitlines())


def from_windows(text: str, _: random.Random) -> str:
    return text.replace("\n", "\r\n")


def wrapped(text: str, rng: random.Random) -> str:
    width = rng.randrange(30, 90)
    lines = text.splitlines()
    return "".join(f"{line[i : i + width]}\n" for line in lines for i in range(0, len(line), width))


def mixed(text: str, rng: random.Random) -> str:
    """Line by line with another log."""
    own, other = text.splitlines(), SAMPLES[rng.choice(NAMES)].splitlines()
    lines = []
    while own or other:
        source = own if own and (not other or rng.random() < 0.5) else other
        lines.append(source.pop(0))
    return "\n".join(lines)


def doubled(text: str, _: random.Random) -> str:
    return text + text


def with_commas(text: str, _: random.Random) -> str:
    return re.sub(r"(?<=\d)\.(?=\d)", ",", text)


def in_other_units(text: str, rng: random.Random) -> str:
    old, new = rng.choice(
        (("MB/s", "MiB/s"), ("MB/s", "Gbit/s"), ("MB/s", "mb/s"), ("(us)", "(ms)"),
         ("usec", "msec"), ("# Size", "# Size (KB)"), ("MB/sec", "GiB/sec"),
         ("MiB/s/rank", "MB/s/rank"))
    )  # fmt: skip
    return text.replace(old, new)


def without_values(text: str, rng: random.Random) -> str:
    words = ("-nan", "inf", "****", "0.00")
    return re.sub(
        r"(?<= )\d+\.\d+",
        lambda number: rng.choice(words) if rng.random() < 0.2 else number[0],
        text,
    )


def in_another_order(text: str, rng: random.Random) -> str:
    """The words of a head in another order."""
    lines = text.splitlines()
    place = rng.randrange(len(lines)) if lines else 0
    for number, line in enumerate(lines):
        if number >= place and "#" in line[:2]:
            words = re.split(r"(?<=\S)\s{2,}(?=\S)", line[1:].strip())
            rng.shuffle(words)
            lines[number] = "# " + "   ".join(words)
            break
    return "\n".join(lines)


CHANGES: tuple[Callable[[str, random.Random], str], ...] = (
    prefixed("[1,0]<stdout>:"), prefixed("0: "), prefixed("srun: "), prefixed("> "), stamped,
    coloured, from_windows, wrapped, mixed, doubled, with_commas, in_other_units, without_values,
    in_another_order, damaged,
)  # fmt: skip


def changed(name: str, rng: random.Random) -> str:
    text = SAMPLES[name]
    for _ in range(rng.randrange(1, 4)):
        text = rng.choice(CHANGES)(text, rng)
    return text


def numbers_of(text: str) -> list[float]:
    """Every number of a text, with a decimal point or a decimal comma."""
    values = set()
    for token in _NUMBER.findall(text):
        plain = re.sub(r"['\u202f\xa0]", "", token).rstrip(".,")
        for form in (plain, plain.replace(",", ""), plain.replace(".", "").replace(",", ".")):
            try:
                values.add(float(form))
            except ValueError:
                continue
    return sorted(values)


def holds(values: list[float], value: float) -> bool:
    place = bisect.bisect_left(values, value * (1 - CLOSE))
    return place < len(values) and values[place] <= value * (1 + CLOSE)


def printed(point: Imported, time_s: float) -> Iterator[float]:
    """What a log may print of a time: itself, or the rate of what moved in it."""
    yield from (time_s * unit for unit in PER_SECOND)
    pairs = int(point.axes.get("pairs", "1"))
    count = point.bytes_per_time // point.size_bytes if point.size_bytes else 1
    amounts = {point.size_bytes, point.bytes_per_time, 2 * point.size_bytes}
    for amount in amounts - {0}:
        yield from (amount / time_s / unit for unit in UNITS_BPS)
    for messages in {1, 2, pairs, 2 * pairs, count}:
        yield messages / time_s


def sizes(point: Imported) -> Iterator[float]:
    """What a row may print of a size: per rank, of all threads, in elements."""
    size = point.size_bytes
    yield size
    yield size / max(point.ranks, 1)
    yield size * int(point.axes.get("threads", "1"))
    yield from (size / unit for unit in (1e3, 1e6, 1e9))


def strangers(text: str) -> Iterator[str]:
    """The imported times that are not in a text."""
    try:
        log = read_text(text, ranks=4, name="log")
    except InputError as error:
        assert "\n" not in str(error)
        return
    # Marks that nobody sees, and colours, may be inside a number.
    text = "\n".join([*plain_lines(text), text])
    everywhere = numbers_of(text)
    lines = [numbers_of(line) for line in text.splitlines()] if log.points else []
    by_row = len(log.suites) == 1 and log.suites[0] in WITH_ROWS
    points = log.points if not any(mark in text for mark in DERIVED_MARKS) else []
    for point in points:
        for time_s in point.samples_s:
            told = list(printed(point, time_s))
            if not any(holds(everywhere, value) for value in told):
                yield f"{point.pattern} {point.size_bytes} {time_s}"
            elif (
                by_row
                and point.size_bytes
                and not any(
                    any(holds(line, value) for value in told)
                    and any(holds(line, size) for size in sizes(point))
                    for line in lines
                )
            ):
                yield f"{point.pattern} {point.size_bytes} {time_s}: not on a row of its size"


@pytest.mark.timeout(0)
@pytest.mark.parametrize("inputs", [FEW, pytest.param(MANY, marks=pytest.mark.full)])
def test_no_number_that_is_not_in_the_log(inputs: int) -> None:
    @settings(
        max_examples=max(1, inputs // BATCH),
        deadline=None,
        database=None,
        derandomize=True,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate,),
    )
    @given(name=st.sampled_from(NAMES), seed=st.integers(0, 2**32))
    def examples(name: str, seed: int) -> None:
        rng = random.Random(seed)
        for _ in range(BATCH):
            text = changed(name, rng)
            assert list(strangers(text)) == [], text

    examples()


@pytest.mark.parametrize("name", NAMES)
def test_every_sample_is_read_with_every_prefix(name: str) -> None:
    """What the test above checks is there: prefixes and colours lose no point."""
    rng = random.Random(name)
    whole = len(read_text(SAMPLES[name], ranks=4).points)
    assert whole > 0
    assert list(strangers(SAMPLES[name])) == []
    for change in (stamped, coloured, from_windows):
        assert len(read_text(change(SAMPLES[name], rng), ranks=4).points) == whole, change
