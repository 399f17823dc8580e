"""Decision tables: the algorithm of an operation by numbers of ranks and bytes.

The text is also read by libnhalf_coll.so (native/interposer/table.hpp): after a first line that
identifies it, it has one rule per line; the first that matches applies.

    # nhalf decision table 2
    # operation ranks_from ranks_to bytes_from bytes_to algorithm part
    bcast 2 8 0 2047 binomial
    bcast 2 8 2048 inf chain 16384
    barrier 2 inf 0 inf dissemination

The last column is the size of the parts into which the algorithm cuts messages; where it is
absent, that is 8192. A table without parts is written in version 1, which has no such column.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TypeVar

from nhalf.base.errors import InputError, unknown
from nhalf.base.operations import CALLS, OPERATIONS, PER_RANK

FIRST_LINE = "# nhalf decision table 1"
FIRST_LINE_WITH_PARTS = "# nhalf decision table 2"
TITLES = "# operation ranks_from ranks_to bytes_from bytes_to algorithm"
PART_TITLE = "part"
NATIVE = "native"
"""The library's own algorithm, also used if no rule matches."""


@dataclass(frozen=True)
class Rule:
    """The algorithm for a range of ranks and of bytes, whose ends belong to it.

    Bytes are those of the message (bcast), the vector (reduce, allreduce, scan) or one block (all
    others), 0 for a barrier. `part_bytes` is None where the algorithm cuts messages as it usually
    does, or not at all.
    """

    operation: str
    from_ranks: int
    to_ranks: float
    from_bytes: int
    to_bytes: float
    algorithm: str
    part_bytes: int | None = None

    def covers(self, operation: str, ranks: int, size_bytes: int) -> bool:
        """Whether the rule matches such a call."""
        return (
            operation == self.operation
            and self.from_ranks <= ranks <= self.to_ranks
            and self.from_bytes <= size_bytes <= self.to_bytes
        )

    @property
    def line(self) -> str:
        """The line of the rule in a table."""
        ends = [
            "inf" if math.isinf(end) else str(int(end)) for end in (self.to_ranks, self.to_bytes)
        ]
        part = "" if self.part_bytes is None else f" {self.part_bytes}"
        return (
            f"{self.operation} {self.from_ranks} {ends[0]} {self.from_bytes} {ends[1]} "
            f"{self.algorithm}{part}"
        )


def rule_for(rules: Iterable[Rule], operation: str, ranks: int, size_bytes: int) -> Rule | None:
    """The first rule that matches; None if none does."""
    return next((rule for rule in rules if rule.covers(operation, ranks, size_bytes)), None)


def choice(rules: Iterable[Rule], operation: str, ranks: int, size_bytes: int) -> str:
    """The algorithm of the first rule that matches, else the library's own."""
    rule = rule_for(rules, operation, ranks, size_bytes)
    return NATIVE if rule is None else rule.algorithm


def table_text(rules: Sequence[Rule], comments: Sequence[str] = ()) -> str:
    """The table as text; `comments` are lines for readers after the first one."""
    has_parts = any(rule.part_bytes is not None for rule in rules)
    first, titles = (
        (FIRST_LINE_WITH_PARTS, f"{TITLES} {PART_TITLE}") if has_parts else (FIRST_LINE, TITLES)
    )
    lines = [first, *(f"# {line}" for line in comments), titles]
    return "\n".join([*lines, *(rule.line for rule in rules)]) + "\n"


def read_table(path: Path) -> list[Rule]:
    """The rules in a file; raises InputError for an invalid one, naming the line."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the decision table {path}: {error}") from None
    if not lines or lines[0].strip() not in (FIRST_LINE, FIRST_LINE_WITH_PARTS):
        raise InputError(
            f"{path} is no decision table: its first line is not {FIRST_LINE!r}",
            "write one with nhalf tune or nhalf predict --out",
        )
    rules = []
    for number, line in enumerate(lines, 1):
        if line.strip() and not line.lstrip().startswith("#"):
            try:
                rules.append(_rule(line.split()))
            except InputError as error:
                reason = f"{path}, line {number}: {error.message}"
                raise InputError(reason, error.remedy) from None
    return rules


def rules_of(
    operation: str,
    ranks: Sequence[int],
    size_bytes: Sequence[int],
    algorithms_by_cell: Sequence[Sequence[str]],
    parts_by_cell: Sequence[Sequence[int | None]] = (),
) -> list[Rule]:
    """Rules from a grid: `algorithms_by_cell[i][j]` for ranks[i], size_bytes[j], both increasing.

    `parts_by_cell` are the sizes of their parts, all the usual ones if there are none.
    Between two numbers of the grid the smaller one's choice holds; there are no rules below the
    first, nor beyond the last number of ranks; the last size includes all larger ones. Ranges of
    equal choices form one rule, as do numbers of ranks with equal rules. `size_bytes` are those of
    the pattern: for a reduce-scatter the whole vector, while the table counts one block.
    """
    # Imported here, since only writers of tables need it.
    from nhalf.machines.algorithms import cost_bytes

    parts_by_cell = parts_by_cell or [[None] * len(size_bytes)] * len(ranks)
    rows = [
        _ranges(
            [int(cost_bytes(operation, p, n)) for n in size_bytes],
            list(zip(algorithms, parts, strict=True)),
        )
        for p, algorithms, parts in zip(ranks, algorithms_by_cell, parts_by_cell, strict=True)
    ]
    rules: list[Rule] = []
    start = 0
    for i in range(1, len(rows) + 1):
        if i < len(rows) and rows[i] == rows[start]:
            continue
        to_ranks = ranks[i] - 1 if i < len(ranks) else ranks[-1]
        rules += [
            Rule(operation, ranks[start], to_ranks, low, high, algorithm, part_bytes)
            for low, high, (algorithm, part_bytes) in rows[start]
            if algorithm != NATIVE
        ]
        start = i
    return rules


Chosen = tuple[str, int | None]
"""An algorithm, and the size of its parts."""


def _ranges(
    size_bytes: Sequence[int], choices: Sequence[Chosen]
) -> list[tuple[int, float, Chosen]]:
    """The first byte, last byte and choice of each range of equal choices."""
    ranges: list[tuple[int, float, Chosen]] = []
    for j, chosen in enumerate(choices):
        end = size_bytes[j + 1] - 1 if j + 1 < len(size_bytes) else math.inf
        if ranges and ranges[-1][2] == chosen:
            ranges[-1] = (ranges[-1][0], end, chosen)
        else:
            ranges.append((size_bytes[j], end, chosen))
    return ranges


def _rule(words: Sequence[str]) -> Rule:
    columns = TITLES.split()[1:]
    if len(words) not in (len(columns), len(columns) + 1):
        raise InputError(
            f"{' '.join(words)!r} is no rule", f"write {' '.join([*columns, f'[{PART_TITLE}]'])}"
        )
    operation, *numbers = words[: len(columns) - 1]
    algorithm, *part = words[len(columns) - 1 :]
    if operation not in OPERATIONS:
        raise unknown("operation", operation, OPERATIONS)
    from_ranks, to_ranks, from_bytes, to_bytes = (_end(word) for word in numbers)
    empty = from_ranks > to_ranks or from_bytes > to_bytes
    if empty or math.isinf(from_ranks) or math.isinf(from_bytes):
        raise InputError(f"{' '.join(words)!r} is a range without a number in it")
    part_bytes = _part(part[0]) if part else None
    return Rule(
        operation, int(from_ranks), to_ranks, int(from_bytes), to_bytes, algorithm, part_bytes
    )


def _part(word: str) -> int:
    part_bytes = _end(word)
    if not 1 <= part_bytes < math.inf:
        raise InputError(f"{word!r} is no size of a part", "write 1 or more bytes")
    return int(part_bytes)


def _end(word: str) -> float:
    if word == "inf":
        return math.inf
    if not (word.isascii() and word.isdigit()):
        raise InputError(
            f"{word!r} is not a number of ranks or bytes", "write decimal digits or inf"
        )
    return int(word)


RANK_BLOCKS_MAX = 64
"""Largest range of ranks with steps of their own, if sizes depend on the number of ranks."""

Value = TypeVar("Value")
Steps = list[tuple[int, str]]
"""Sizes in bytes from which algorithms apply; the first is 0."""


def steps_of(rules: Sequence[Rule], operation: str, ranks: int) -> Steps:
    """The steps of an operation for this many ranks."""
    own = [rule for rule in rules if rule.operation == operation]
    begins = {0, *(rule.from_bytes for rule in own)}
    begins |= {int(rule.to_bytes) + 1 for rule in own if math.isfinite(rule.to_bytes)}
    steps: Steps = []
    for begin_bytes in sorted(begins):
        algorithm = choice(own, operation, ranks, begin_bytes)
        if not steps or steps[-1][1] != algorithm:
            steps.append((begin_bytes, algorithm))
    return steps


def blocks_of(rules: Sequence[Rule], operation: str) -> list[tuple[int, Steps]]:
    """The numbers of ranks from which steps apply; the first block begins at 0.

    Sizes are those of the rules: of those that are PER_RANK one block, while libraries count all
    blocks of a rank. Blocks equal to the one before are omitted, except for operations
    whose size a library multiplies by the number of ranks.
    """
    own = [rule for rule in rules if rule.operation == operation]
    begins = {0}
    for rule in own:
        begins.add(rule.from_ranks)
        if math.isfinite(rule.to_ranks):
            begins.add(int(rule.to_ranks) + 1)
            count = int(rule.to_ranks) - rule.from_ranks
            if operation in PER_RANK and count <= RANK_BLOCKS_MAX:
                begins |= set(range(rule.from_ranks, int(rule.to_ranks) + 1))
    blocks: list[tuple[int, Steps]] = []
    for begin in sorted(begins):
        steps = steps_of(own, operation, begin)
        is_repeated = bool(blocks) and blocks[-1][1] == steps
        if not is_repeated or (operation in PER_RANK and len(steps) > 1):
            blocks.append((begin, steps))
    return blocks


def rules_from(operation: str, blocks: Sequence[tuple[int, Steps]]) -> list[Rule]:
    """The rules of blocks of steps; the library's own choice needs no rule."""
    rules = []
    for number, (begin, steps) in enumerate(blocks):
        end = blocks[number + 1][0] - 1 if number + 1 < len(blocks) else math.inf
        for place, (begin_bytes, algorithm) in enumerate(steps):
            last = place + 1 == len(steps)
            end_bytes = math.inf if last else steps[place + 1][0] - 1
            if algorithm != NATIVE:
                rules.append(Rule(operation, begin, end, begin_bytes, end_bytes, algorithm))
    return rules


def changed_between(
    steps: Sequence[tuple[int, Value]],
    begin: int,
    end: float,
    change: Callable[[int, Value], Value],
) -> list[tuple[int, Value]]:
    """Steps in which `change` has altered what applies from `begin` to `end`, and nothing else.

    It takes each begin of a step between them with what applied there; the first step begins at 0.
    """
    begins = {at for at, _ in steps} | {begin}
    if math.isfinite(end):
        begins.add(int(end) + 1)
    changed: list[tuple[int, Value]] = []
    for at in sorted(begins):
        value = next(held for first, held in reversed(steps) if first <= at)
        changed.append((at, change(at, value) if begin <= at <= end else value))
    return changed


def call_of(operation: str) -> str:
    """The name of an operation in libraries."""
    return CALLS.get(operation, operation)
