# SPDX-License-Identifier: Apache-2.0
"""Decision tables: the algorithm of an operation by numbers of ranks and bytes.

The text is also read by libnhalf_coll.so (native/interposer/table.hpp): after a first line that
identifies it, it has one rule per line; the first that matches applies.

    # nhalf decision table 1
    # operation ranks_from ranks_to bytes_from bytes_to algorithm
    bcast 2 8 0 2047 binomial
    barrier 2 inf 0 inf dissemination
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError, unknown
from nhalf.base.operations import OPERATIONS

FIRST_LINE = "# nhalf decision table 1"
TITLES = "# operation ranks_from ranks_to bytes_from bytes_to algorithm"
NATIVE = "native"
"""The library's own algorithm, also used if no rule matches."""


@dataclass(frozen=True)
class Rule:
    """The algorithm for a range of ranks and of bytes, whose ends belong to it.

    Bytes are those of the message (bcast), the vector (reduce, allreduce, scan) or one block (all
    others), 0 for a barrier.
    """

    operation: str
    from_ranks: int
    to_ranks: float
    from_bytes: int
    to_bytes: float
    algorithm: str

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
        ends = [_number(end) for end in (self.to_ranks, self.to_bytes)]
        return (
            f"{self.operation} {self.from_ranks} {ends[0]} {self.from_bytes} {ends[1]} "
            f"{self.algorithm}"
        )


def choice(rules: Iterable[Rule], operation: str, ranks: int, size_bytes: int) -> str:
    """The algorithm of the first rule that matches, else the library's own."""
    for rule in rules:
        if rule.covers(operation, ranks, size_bytes):
            return rule.algorithm
    return NATIVE


def table_text(rules: Sequence[Rule], comments: Sequence[str] = ()) -> str:
    """The table as text; `comments` are lines for readers after the first one."""
    lines = [FIRST_LINE, *(f"# {line}" for line in comments), TITLES]
    return "\n".join([*lines, *(rule.line for rule in rules)]) + "\n"


def read_table(path: Path) -> list[Rule]:
    """The rules in a file; raises InputError for an invalid one, naming the line."""
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot read the decision table {path}: {error}") from None
    if not lines or lines[0].strip() != FIRST_LINE:
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
) -> list[Rule]:
    """Rules from a grid: `algorithms_by_cell[i][j]` for ranks[i], size_bytes[j], both increasing.

    Between two numbers of the grid the smaller one's choice holds; there are no rules below the
    first, nor beyond the last number of ranks; the last size includes all larger ones. Ranges of
    equal choices form one rule, as do numbers of ranks with equal rules. `size_bytes` are those of
    the pattern: for a reduce-scatter the whole vector, while the table counts one block.
    """
    # Imported here, since only writers of tables need it.
    from nhalf.machines.algorithms import cost_bytes

    rows = [
        _ranges([int(cost_bytes(operation, p, n)) for n in size_bytes], algorithms)
        for p, algorithms in zip(ranks, algorithms_by_cell, strict=True)
    ]
    rules: list[Rule] = []
    start = 0
    for i in range(1, len(rows) + 1):
        if i < len(rows) and rows[i] == rows[start]:
            continue
        to_ranks = ranks[i] - 1 if i < len(ranks) else ranks[-1]
        rules += [
            Rule(operation, ranks[start], to_ranks, low, high, algorithm)
            for low, high, algorithm in rows[start]
            if algorithm != NATIVE
        ]
        start = i
    return rules


def _ranges(size_bytes: Sequence[int], algorithms: Sequence[str]) -> list[tuple[int, float, str]]:
    """The first byte, last byte and algorithm of each range of equal choices."""
    ranges: list[tuple[int, float, str]] = []
    for j, algorithm in enumerate(algorithms):
        end = size_bytes[j + 1] - 1 if j + 1 < len(size_bytes) else math.inf
        if ranges and ranges[-1][2] == algorithm:
            ranges[-1] = (ranges[-1][0], end, algorithm)
        else:
            ranges.append((size_bytes[j], end, algorithm))
    return ranges


def _rule(words: Sequence[str]) -> Rule:
    if len(words) != len(TITLES.split()) - 1:
        raise InputError(f"{' '.join(words)!r} is no rule", f"write {TITLES.removeprefix('# ')}")
    operation, *numbers, algorithm = words
    if operation not in OPERATIONS:
        raise unknown("operation", operation, OPERATIONS)
    from_ranks, to_ranks, from_bytes, to_bytes = (_end(word) for word in numbers)
    empty = from_ranks > to_ranks or from_bytes > to_bytes
    if empty or math.isinf(from_ranks) or math.isinf(from_bytes):
        raise InputError(f"{' '.join(words)!r} is a range without a number in it")
    return Rule(operation, int(from_ranks), to_ranks, int(from_bytes), to_bytes, algorithm)


def _end(word: str) -> float:
    if word == "inf":
        return math.inf
    if not (word.isascii() and word.isdigit()):
        raise InputError(
            f"{word!r} is not a number of ranks or bytes", "write decimal digits or inf"
        )
    return int(word)


def _number(end: float) -> str:
    return "inf" if math.isinf(end) else str(int(end))
