# SPDX-License-Identifier: Apache-2.0
"""Innermost loops in a listing of x86-64 instructions as gcc and clang write them (AT&T)."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_LABEL = re.compile(r"([.\w$]+):")
_PLACE = re.compile(r"\.loc\s+\d+\s+(\d+)")
_OPERAND = re.compile(r"(?:[^,(]|\([^)]*\))+")


@dataclass(frozen=True)
class Instruction:
    """One instruction: its name, its operands, the last being where the result goes."""

    name: str
    operands: tuple[str, ...]
    line: int

    @property
    def is_jump(self) -> bool:
        """Whether it goes elsewhere."""
        return self.name.startswith("j")


@dataclass(frozen=True)
class EmittedLoop:
    """The instructions of a loop without a loop in it, and the line that most come from.

    `skipped` are the places of those that some passes jump over.
    """

    instructions: tuple[Instruction, ...]
    lines: Counter[int]
    skipped: frozenset[int] = frozenset()

    @property
    def always(self) -> list[Instruction]:
        """The instructions that every pass comes to."""
        return [one for at, one in enumerate(self.instructions) if at not in self.skipped]


def emitted_loops(listing: str) -> list[EmittedLoop]:
    """The innermost loops of a listing, in its order."""
    instructions, labels = _read(listing)
    ends: dict[int, int] = {}
    for at, one in enumerate(instructions):
        if one.is_jump and one.operands and labels.get(one.operands[0], at + 1) <= at:
            # A loop may begin its next pass from several places.
            ends[labels[one.operands[0]]] = at
    spans = sorted(ends.items())
    inner = [one for one in spans if not any(_within(other, one) for other in spans)]
    return [_loop(instructions, labels, begin, end) for begin, end in inner]


def _loop(
    instructions: list[Instruction], labels: dict[str, int], begin: int, end: int
) -> EmittedLoop:
    within = instructions[begin : end + 1]
    skipped: set[int] = set()
    for at, one in enumerate(within):
        target = labels.get(one.operands[0], -1) - begin if one.is_jump and one.operands else -1
        if at < target < len(within):
            skipped |= set(range(at + 1, target))
        elif target == 0:  # the next pass may begin here
            skipped |= set(range(at + 1, len(within)))
    return EmittedLoop(tuple(within), Counter(one.line for one in within), frozenset(skipped))


def _within(one: tuple[int, int], other: tuple[int, int]) -> bool:
    return one != other and other[0] <= one[0] and one[1] <= other[1]


def _read(listing: str) -> tuple[list[Instruction], dict[str, int]]:
    """Instructions, and at which of them labels stand."""
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    line = 0
    for text in map(str.strip, listing.splitlines()):
        place, label = _PLACE.match(text), _LABEL.match(text)
        if place:
            line = int(place[1])
        elif label:
            labels[label[1]] = len(instructions)
        elif is_instruction(text):
            instructions.append(instruction(text, line))
    return instructions, labels


def is_instruction(text: str) -> bool:
    """Whether a line of a listing, without the space around it, is an instruction."""
    return bool(text) and not text.startswith((".", "#")) and not _LABEL.match(text)


def instruction(text: str, line: int = 0) -> Instruction:
    """The instruction that a line of a listing is; `line` is that of the source."""
    name, _, rest = text.split("#", maxsplit=1)[0].strip().partition("\t")
    name, _, more = name.partition(" ")
    words = [one.strip() for one in _OPERAND.findall(more + rest)]
    return Instruction(name, tuple(words), line)


def instructions_of(listing: str) -> list[Instruction]:
    """All instructions of a listing in its order."""
    return _read(listing)[0]


def loops_of_lines(found: Iterable[EmittedLoop], first: int, last: int) -> list[EmittedLoop]:
    """The loops of which most instructions come from these lines of the source."""
    return [
        one
        for one in found
        if 2 * sum(count for line, count in one.lines.items() if first <= line <= last)
        > sum(one.lines.values())
    ]
