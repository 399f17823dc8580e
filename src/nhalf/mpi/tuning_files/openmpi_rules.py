# SPDX-License-Identifier: Apache-2.0
"""Open MPI's file of dynamic rules as numbers, in versions 1 and 2.

    N collectives: each an id and a number of communicator sizes,
        each a size and a number of message sizes,
            each: message size, algorithm, fan-in and fan-out, segment size,
                in version 2 a number of requests may follow

Blanks separate numbers, '#' begins a comment. The block of the largest communicator size that
is not above the actual one applies; one that is smaller than all takes the first block, therefore a
block of size 0 goes first. Likewise for message sizes, where a first one that is not 0 makes the
library ignore the whole file. Algorithm 0 leaves the choice to the library. Sizes are those of the
whole message (bcast), vector (reduce, allreduce) or all blocks together (the others).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import FailedError
from nhalf.mpi.decision_table import NATIVE, Rule
from nhalf.mpi.tuner import rejected
from nhalf.mpi.tuning_files.steps import PER_RANK, Steps, blocks_of, rules_from

OPERATION_IDS = {
    "allgather": 0,
    "allreduce": 2,
    "alltoall": 3,
    "barrier": 6,
    "bcast": 7,
    "gather": 9,
    "reduce": 11,
    "reduce-scatter": 13,
    "scatter": 15,
}
COLLECTIVES_MAX = 22
"""Upper bound of ids of blocking and neighbourhood collectives."""
HEADLINE = "rule-file-version-"


def rules_text(
    rules: Sequence[Rule],
    number_of: Callable[[str, str], int],
    fan_of: Callable[[str, str], int],
    version: int,
) -> str:
    """The text of the file; `number_of` and `fan_of` take an operation and an algorithm's name."""
    operations = sorted({rule.operation for rule in rules}, key=OPERATION_IDS.__getitem__)
    lines = [f"{HEADLINE}{version}"] if version > 1 else []
    lines.append(f"{len(operations)} # collectives")
    for operation in operations:
        blocks = blocks_of(rules, operation)
        lines.append(f"{OPERATION_IDS[operation]} # {operation}")
        lines.append(f"{len(blocks)} # communicator sizes")
        for ranks, steps in blocks:
            lines.append(f"{ranks} {len(steps)} # from this many ranks on, number of message sizes")
            factor = ranks if operation in PER_RANK else 1
            for begin_bytes, algorithm in steps:
                name, _, segment = algorithm.partition(":")
                numbers = [begin_bytes * factor, number_of(operation, name)]
                numbers += [fan_of(operation, name), int(segment or 0)]
                lines.append(f"{' '.join(map(str, numbers))} # {algorithm}")
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


def read_rules(path: Path, text: str, names_of: Callable[[str], Mapping[int, str]]) -> list[Rule]:
    """The rules in a file; `names_of` gives an operation's algorithms by number.

    Raises FailedError naming the line if the library would ignore the file, or would interpret it
    differently from its text.
    """
    version, numbers = _parse(path, text)
    rules: list[Rule] = []
    identities: set[int] = set()
    for _ in range(numbers.count("the number of collectives")):
        identity = numbers.next("the id of a collective")
        if identity >= COLLECTIVES_MAX:
            raise rejected(path, numbers.line, f"there is no collective of id {identity}")
        if identity in identities:
            raise rejected(path, numbers.line, f"the collective of id {identity} comes twice")
        identities.add(identity)
        operation = next((key for key, number in OPERATION_IDS.items() if number == identity), "")
        names = names_of(operation) if operation else {}
        rules += rules_from(operation, list(_blocks(numbers, operation, names, version)))
    if numbers.remaining:
        line = numbers.remaining[0][0]
        raise rejected(path, line, "more numbers follow than the counts before them announce")
    return [rule for rule in rules if rule.operation]


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
    numbers: _Numbers, operation: str, names: Mapping[int, str], version: int
) -> Iterator[tuple[int, Steps]]:
    """Yield every communicator size of a collective with its steps, in nhalf's sizes."""
    before = -1
    for place in range(numbers.count("the number of communicator sizes")):
        ranks = numbers.next("a communicator size")
        if place == 0 and ranks > 0:
            raise rejected(
                numbers.path,
                numbers.line,
                f"the first communicator size is {ranks}: smaller ones would take its rules, too, "
                "so begin with size 0 and algorithm 0",
            )
        if ranks <= before:
            raise rejected(numbers.path, numbers.line, "communicator sizes do not ascend")
        before = ranks
        count = numbers.count("the number of message sizes")
        steps = list(_steps(numbers, operation, names, (count, version)))
        factor = max(ranks, 1) if operation in PER_RANK else 1
        yield ranks, [(-(-size // factor), name) for size, name in steps]


def _steps(
    numbers: _Numbers, operation: str, names: Mapping[int, str], form: tuple[int, int]
) -> Iterator[tuple[int, str]]:
    """Yield every message size of a block with its algorithm."""
    count, version = form
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
        numbers.next("the fan-in and fan-out")
        segment_bytes = numbers.next("a segment size")
        if numbers.line != line:
            raise rejected(numbers.path, line, "a rule has fewer than 4 numbers on its line")
        if version > 1 and numbers.more_on_line():
            numbers.next("the number of requests")
        if numbers.more_on_line():
            raise rejected(numbers.path, line, f"a rule has more than {3 + version} numbers")
        yield size_bytes, _algorithm_name(numbers, operation, names, (algorithm, segment_bytes))


def _algorithm_name(
    numbers: _Numbers, operation: str, names: Mapping[int, str], rule: tuple[int, int]
) -> str:
    """The name of an algorithm with its segment size; raises FailedError for an unknown one."""
    algorithm, segment_bytes = rule
    if not operation:
        return str(algorithm)
    if algorithm and algorithm not in names:
        error: FailedError = rejected(
            numbers.path,
            numbers.line,
            f"{operation} has no algorithm {algorithm}, only 0 to {max(names, default=0)}",
        )
        raise error
    name = names[algorithm] if algorithm else NATIVE
    return f"{name}:{segment_bytes}" if algorithm and segment_bytes else name
