"""Open MPI's file of dynamic rules as numbers, in versions 1 and 2.

    N collectives: each an id and a number of communicator sizes,
        each a size and a number of message sizes,
            each: message size, algorithm, fan-in and fan-out, segment size,
                in version 2 a number of requests may follow

Blanks separate numbers, '#' begins a comment, which is not kept. The block of the largest
communicator size that is not above the actual one applies; one that is smaller than all takes the
first block, therefore a block of size 0 goes first. Likewise for message sizes, where a first one
that is not 0 makes the library ignore the whole file. Algorithm 0 leaves the choice to the library.
Sizes are those of the whole message (bcast), vector (reduce, allreduce) or all blocks (others).
"""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from nhalf.base.errors import FailedError
from nhalf.base.operations import PER_RANK
from nhalf.mpi.decision_table import (
    NATIVE,
    RANK_BLOCKS_MAX,
    Rule,
    Steps,
    blocks_of,
    changed_between,
    rules_from,
)
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
class Words:
    """The words of a file in their order, each with its line."""

    path: Path
    remaining: list[tuple[int, str]]
    line: int = 1

    def next(self, description: str) -> str:
        """Read the next word; an error names what is missing."""
        if not self.remaining:
            raise rejected(self.path, self.line, f"the file ends where {description} should follow")
        self.line, word = self.remaining.pop(0)
        return word


class _Numbers(Words):
    """Words that are all numbers."""

    def number(self, description: str) -> int:
        """Read the next number; an error names what is missing."""
        return int(self.next(description))

    def count(self, description: str) -> int:
        """Read the number of entries that follow; 0 is an error."""
        number = self.number(description)
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
        identity = numbers.number("the id of a collective")
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
    numbers: list[tuple[int, str]] = []
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
            numbers.append((place, word))
    if not numbers:
        raise rejected(path, 1, "there is no number in it")
    return version, _Numbers(path, numbers)


def _blocks(
    numbers: _Numbers, count: int, version: int
) -> Iterator[tuple[int, list[tuple[int, RuleNumbers]]]]:
    """Yield every communicator size of a collective with its steps."""
    before = -1
    for _ in range(count):
        ranks = numbers.number("a communicator size")
        if ranks <= before:
            raise rejected(numbers.path, numbers.line, "communicator sizes do not ascend")
        before = ranks
        sizes = numbers.count("the number of message sizes")
        yield ranks, list(_steps(numbers, sizes, version))


def _steps(numbers: _Numbers, count: int, version: int) -> Iterator[tuple[int, RuleNumbers]]:
    """Yield every message size of a block with its rule."""
    before = -1
    for place in range(count):
        size_bytes = numbers.number("a message size")
        line = numbers.line
        if place == 0 and size_bytes > 0:
            raise rejected(numbers.path, line, f"the first message size is {size_bytes}, not 0")
        if size_bytes <= before:
            raise rejected(numbers.path, line, "message sizes do not ascend")
        before = size_bytes
        algorithm = numbers.number("an algorithm")
        fan = numbers.number("the fan-in and fan-out")
        segment_bytes = numbers.number("a segment size")
        if numbers.line != line:
            raise rejected(numbers.path, line, "a rule has fewer than 4 numbers on its line")
        has_requests = version > 1 and numbers.more_on_line()
        requests = numbers.number("the number of requests") if has_requests else None
        if numbers.more_on_line():
            raise rejected(numbers.path, line, f"a rule has more than {3 + version} numbers")
        yield size_bytes, RuleNumbers(algorithm, fan, segment_bytes, requests, line)


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


def with_rules(
    file: RuleFile,
    rules: Sequence[Rule],
    number_of: Callable[[str, str], int],
    fan_of: Callable[[str, str], int],
) -> RuleFile:
    """A file in which rules decide for their ranks and sizes; everything else stays as it is."""
    blocks = {identity: list(held) for identity, held in file.blocks.items()}
    for rule in reversed(rules):
        identity = OPERATION_IDS[rule.operation]
        name, _, segment = rule.algorithm.partition(":")
        fan = fan_of(rule.operation, name)
        chosen = RuleNumbers(number_of(rule.operation, name), fan, int(segment or 0))
        held = blocks.get(identity) or [(0, [(0, RuleNumbers(0))])]
        # The first block is that of fewer ranks, too.
        held[0] = (0, held[0][1])
        for from_ranks, to_ranks in _ranges(rule):
            held = changed_between(held, from_ranks, to_ranks, _deciding(rule, chosen))
        blocks[identity] = held
    return RuleFile(file.version, blocks)


def _ranges(rule: Rule) -> list[tuple[int, float]]:
    """The ranks of a rule, one by one where its sizes are counted for all of them together."""
    count = rule.to_ranks - rule.from_ranks
    if rule.operation not in PER_RANK or count > RANK_BLOCKS_MAX:
        return [(rule.from_ranks, rule.to_ranks)]
    return [(ranks, ranks) for ranks in range(rule.from_ranks, int(rule.to_ranks) + 1)]


def _deciding(rule: Rule, chosen: RuleNumbers) -> Callable[[int, NumberSteps], NumberSteps]:
    """What a rule makes of the message sizes of a block."""

    def changed(ranks: int, steps: NumberSteps) -> NumberSteps:
        factor = max(ranks, 1) if rule.operation in PER_RANK else 1
        begin, end = rule.from_bytes * factor, (rule.to_bytes + 1) * factor - 1
        return changed_between(steps, begin, end, lambda size_bytes, before: chosen)

    return changed


def read_rules(path: Path, text: str, names_of: Callable[[str], Mapping[int, str]]) -> list[Rule]:
    """The rules in a file; `names_of` gives an operation's algorithms by number.

    The first block is that of fewer ranks as well. Raises FailedError naming the line if the
    library would ignore the file.
    """
    file = read_file(path, text)
    rules: list[Rule] = []
    for identity, blocks in file.blocks.items():
        operation = operation_of(identity)
        if operation:
            from_no_ranks = [(0, blocks[0][1]), *blocks[1:]]
            named_blocks = _named(path, operation, from_no_ranks, names_of(operation))
            rules += rules_from(operation, named_blocks)
    return rules


def operation_of(identity: int) -> str:
    """The operation of a number in the file; '' for one that nhalf does not measure."""
    return next((key for key, number in OPERATION_IDS.items() if number == identity), "")


def first_block_note(file: RuleFile) -> str:
    """Which operations begin with a block of more ranks, which smaller communicators take too."""
    begins = [
        f"{operation_of(identity) or f'collective {identity}'} ({blocks[0][0]} ranks)"
        for identity, blocks in file.blocks.items()
        if blocks[0][0] > 0
    ]
    if not begins:
        return ""
    return f"smaller communicators take the first block as well: {', '.join(begins)}"


def _named(
    path: Path, operation: str, blocks: NumberBlocks, names: Mapping[int, str]
) -> list[tuple[int, Steps]]:
    """Blocks with the names of algorithms, in nhalf's sizes."""
    with_names: list[tuple[int, Steps]] = []
    for ranks, steps in blocks:
        factor = max(ranks, 1) if operation in PER_RANK else 1
        with_names.append(
            (
                ranks,
                [(-(-size // factor), _name(path, operation, names, rule)) for size, rule in steps],
            )
        )
    return with_names


def _name(path: Path, operation: str, names: Mapping[int, str], rule: RuleNumbers) -> str:
    """The name of an algorithm with its segment size; raises FailedError for an unknown one."""
    if rule.algorithm and rule.algorithm not in names:
        error: FailedError = rejected(
            path,
            rule.line,
            f"{operation} has no algorithm {rule.algorithm}, only 0 to {max(names, default=0)}",
        )
        raise error
    if not rule.algorithm:
        return NATIVE
    name = names[rule.algorithm]
    return f"{name}:{rule.segment_bytes}" if rule.segment_bytes else name
