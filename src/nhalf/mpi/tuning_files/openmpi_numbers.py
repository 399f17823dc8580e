"""The numbers in Open MPI's file of dynamic rules, as the file counts ranks and bytes.

See openmpi_rules.py for what they mean. Comments are not kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from nhalf.mpi.tuner import rejected

COLLECTIVES_MAX = 22
"""Upper bound of ids of blocking and neighbourhood collectives."""
HEADLINE = "rule-file-version-"


@dataclass(frozen=True)
class RuleNumbers:
    """What a file says of a message size, and on which line; `requests` are None without any."""

    algorithm: int
    fan: int = 0
    segment_bytes: int = 0
    requests: int | None = None
    line: int = field(default=0, compare=False)


NumberSteps = list[tuple[int, RuleNumbers]]
NumberBlocks = list[tuple[int, NumberSteps]]
"""The communicator sizes of a collective with the message sizes, as the file counts both."""


@dataclass(frozen=True)
class RuleFile:
    """A whole file: the blocks of each collective by its id, and the lines of its first block."""

    version: int
    blocks: Mapping[int, NumberBlocks]
    first_lines: Mapping[int, int] = field(default_factory=dict, compare=False)


def file_text(file: RuleFile) -> str:
    """The text of a file that was read; it has no comments."""
    lines = [f"{HEADLINE}{file.version}"] if file.version > 1 else []
    lines.append(str(len(file.blocks)))
    for identity, blocks in file.blocks.items():
        lines += [str(identity), str(len(blocks))]
        for ranks, steps in blocks:
            lines.append(f"{ranks} {len(steps)}")
            for size_bytes, rule in steps:
                numbers = [size_bytes, rule.algorithm, rule.fan, rule.segment_bytes]
                numbers += [rule.requests] if rule.requests is not None else []
                lines.append(" ".join(map(str, numbers)))
    return "\n".join(lines) + "\n"


@dataclass
class _Numbers:
    """The numbers of a file in their order, each with its line."""

    path: Path
    remaining: list[tuple[int, int]]
    line: int = 1

    def next(self, description: str) -> int:
        """Read the next number; an error names what is missing."""
        if not self.remaining:
            raise rejected(self.path, self.line, f"the file ends where {description} should follow")
        self.line, number = self.remaining.pop(0)
        return number

    def count(self, description: str) -> int:
        """Read the number of entries that follow; 0 is an error."""
        number = self.next(description)
        if number == 0:
            raise rejected(self.path, self.line, f"{description} is 0")
        return number

    def more_on_line(self) -> bool:
        """Whether another number follows on the line of the last one."""
        return bool(self.remaining) and self.remaining[0][0] == self.line


def read_file(path: Path, text: str) -> RuleFile:
    """The numbers of a file as the library reads them.

    Raises FailedError naming the line if the library would ignore the file.
    """
    version, numbers = _parse(path, text)
    blocks: dict[int, NumberBlocks] = {}
    first_lines: dict[int, int] = {}
    for _ in range(numbers.count("the number of collectives")):
        identity = numbers.next("the id of a collective")
        if identity >= COLLECTIVES_MAX:
            raise rejected(path, numbers.line, f"there is no collective of id {identity}")
        if identity in blocks:
            raise rejected(path, numbers.line, f"the collective of id {identity} comes twice")
        count = numbers.count("the number of communicator sizes")
        first_lines[identity] = numbers.remaining[0][0] if numbers.remaining else numbers.line
        blocks[identity] = list(_blocks(numbers, count, version))
    if numbers.remaining:
        line = numbers.remaining[0][0]
        raise rejected(path, line, "more numbers follow than the counts before them announce")
    return RuleFile(version, blocks, first_lines)


def _parse(path: Path, text: str) -> tuple[int, _Numbers]:
    """Parse the version and all numbers of a file."""
    version = 1
    numbers: list[tuple[int, int]] = []
    for place, whole in enumerate(text.splitlines(), 1):
        line = whole.partition("#")[0].strip()
        if place == 1 and line.startswith(HEADLINE):
            word = line.removeprefix(HEADLINE)
            if word not in ("1", "2"):
                raise rejected(path, 1, f"version {word!r} of the form is unknown")
            version = int(word)
            continue
        for word in line.split():
            if not re.fullmatch(r"0|[1-9][0-9]{0,18}", word):
                raise rejected(path, place, f"{word!r} is no decimal number")
            numbers.append((place, int(word)))
    if not numbers:
        raise rejected(path, 1, "there is no number in it")
    return version, _Numbers(path, numbers)


def _blocks(
    numbers: _Numbers, count: int, version: int
) -> Iterator[tuple[int, list[tuple[int, RuleNumbers]]]]:
    """Yield every communicator size of a collective with its steps."""
    before = -1
    for _ in range(count):
        ranks = numbers.next("a communicator size")
        if ranks <= before:
            raise rejected(numbers.path, numbers.line, "communicator sizes do not ascend")
        before = ranks
        sizes = numbers.count("the number of message sizes")
        yield ranks, list(_steps(numbers, sizes, version))


def _steps(numbers: _Numbers, count: int, version: int) -> Iterator[tuple[int, RuleNumbers]]:
    """Yield every message size of a block with its rule."""
    before = -1
    for place in range(count):
        size_bytes = numbers.next("a message size")
        line = numbers.line
        if place == 0 and size_bytes > 0:
            raise rejected(numbers.path, line, f"the first message size is {size_bytes}, not 0")
        if size_bytes <= before:
            raise rejected(numbers.path, line, "message sizes do not ascend")
        before = size_bytes
        algorithm = numbers.next("an algorithm")
        fan = numbers.next("the fan-in and fan-out")
        segment_bytes = numbers.next("a segment size")
        if numbers.line != line:
            raise rejected(numbers.path, line, "a rule has fewer than 4 numbers on its line")
        has_requests = version > 1 and numbers.more_on_line()
        requests = numbers.next("the number of requests") if has_requests else None
        if numbers.more_on_line():
            raise rejected(numbers.path, line, f"a rule has more than {3 + version} numbers")
        yield size_bytes, RuleNumbers(algorithm, fan, segment_bytes, requests, line)
