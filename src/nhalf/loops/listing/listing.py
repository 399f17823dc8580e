"""Innermost loops in a listing of x86-64 instructions as gcc and clang write them (AT&T)."""

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

_LABEL = re.compile(r"([.\w$]+):")
_SOURCE_LINE = re.compile(r"\.loc\s+\d+\s+(\d+)")
_OPERAND = re.compile(r"(?:[^,(]|\([^)]*\))+")


@dataclass(frozen=True)
class Instruction:
    """One instruction: its name, its operands, the last being where the result goes."""

    name: str
    operands: tuple[str, ...]
    line: int

    @property
    def is_jump(self) -> bool:
        """Whether it is a jump."""
        return self.name.startswith("j")

    @property
    def jump_label(self) -> str:
        """The label that it jumps to; '' if it does not jump."""
        return self.operands[0] if self.is_jump and self.operands else ""


@dataclass(frozen=True)
class EmittedLoop:
    """The instructions of an innermost loop; `lines` counts them by their line of the source.

    `skipped` are the positions of those that some passes jump over.
    """

    instructions: tuple[Instruction, ...]
    lines: Counter[int]
    skipped: frozenset[int] = frozenset()

    @property
    def always(self) -> list[Instruction]:
        """The instructions that every pass executes."""
        return [
            instruction
            for position, instruction in enumerate(self.instructions)
            if position not in self.skipped
        ]


def emitted_loops(listing: str) -> list[EmittedLoop]:
    """The innermost loops of a listing, in order."""
    instructions, labels = _read(listing)
    ends: dict[int, int] = {}
    for position, instruction in enumerate(instructions):
        target = labels.get(instruction.jump_label, position + 1)
        if target <= position:
            # A loop may begin its next pass from several places.
            ends[target] = position
    spans = sorted(ends.items())
    innermost = [
        (begin, end)
        for begin, end in spans
        if not any(begin <= first and last <= end for first, last in spans if first != begin)
    ]
    return [_loop(instructions, labels, begin, end) for begin, end in innermost]


def _loop(
    instructions: list[Instruction], labels: dict[str, int], begin: int, end: int
) -> EmittedLoop:
    within = instructions[begin : end + 1]
    skipped: set[int] = set()
    for position, instruction in enumerate(within):
        target = labels.get(instruction.jump_label, -1) - begin
        if position < target < len(within):
            skipped |= set(range(position + 1, target))
        elif target == 0:  # the next pass may begin here
            skipped |= set(range(position + 1, len(within)))
    return EmittedLoop(
        tuple(within), Counter(instruction.line for instruction in within), frozenset(skipped)
    )


def _read(listing: str) -> tuple[list[Instruction], dict[str, int]]:
    """The instructions of a listing, and the positions of its labels."""
    instructions: list[Instruction] = []
    labels: dict[str, int] = {}
    line = 0
    for text in map(str.strip, listing.splitlines()):
        source_line, label = _SOURCE_LINE.match(text), _LABEL.match(text)
        if source_line:
            line = int(source_line[1])
        elif label:
            labels[label[1]] = len(instructions)
        elif is_instruction(text):
            instructions.append(instruction(text, line))
    return instructions, labels


def is_instruction(text: str) -> bool:
    """Whether a line of a listing, without the space around it, is an instruction."""
    return bool(text) and not text.startswith((".", "#")) and not _LABEL.match(text)


def instruction(text: str, line: int = 0) -> Instruction:
    """Parse the instruction in a line of a listing; `line` is that of the source."""
    name, _, arguments = text.split("#", maxsplit=1)[0].strip().partition("\t")
    name, _, suffix = name.partition(" ")
    operands = [operand.strip() for operand in _OPERAND.findall(suffix + arguments)]
    return Instruction(name, tuple(operands), line)


def instructions_of(listing: str) -> list[Instruction]:
    """All instructions of a listing, in order."""
    return _read(listing)[0]


def loops_of_lines(loops: Iterable[EmittedLoop], first: int, last: int) -> list[EmittedLoop]:
    """The loops of which most instructions come from these lines of the source."""
    return [
        loop
        for loop in loops
        if 2 * sum(count for line, count in loop.lines.items() if first <= line <= last)
        > sum(loop.lines.values())
    ]
