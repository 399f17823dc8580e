# SPDX-License-Identifier: Apache-2.0
"""Which instructions a loop really executes, and where they reach: a listing that records itself.

Before each instruction its number and the address that it reaches are stored, by instructions that
change no flag and no register.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from nhalf.base.errors import FailedError
from nhalf.node.ladder.listing import Instruction, instruction, is_instruction
from nhalf.node.ladder.micro import is_memory, reads_memory, writes_memory

BELOW_BYTES = 256
"""So far below the stack pointer nothing is kept: functions without calls use 128 bytes there."""
RECORD_BYTES = 16
FUNCTION = re.compile(r"([A-Za-z_$][\w$]*)[.\w$]*:")
UNREACHABLE = re.compile(r"%[xyz]mm|%[fg]s:|\{")
"""Addresses that no single instruction can compute."""


class Executed(NamedTuple):
    """One executed instruction by its number in the listing; an address of 0 is none.

    `missed` are lines that it needs and the nearest cache does not hold.
    """

    number: int
    address: int
    missed: int = 0


def recording(listing: str, functions: Collection[str] | None = None) -> str:
    """The listing with a record before each instruction, at `nhalf_trace_next`.

    Only those of `functions` record where they are given, parts that a compiler made of them too.
    """
    lines = []
    number = 0
    function = ""
    for text in listing.splitlines():
        label = FUNCTION.match(text)
        function = label[1] if label else function
        if is_instruction(text.strip()):
            if functions is None or function in functions:
                lines.append(_record(number, _reached(instruction(text.strip()))))
            number += 1
        lines.append(text)
    return "\n".join(lines) + "\n"


def _reached(one: Instruction) -> str:
    """The operand of which the address is recorded, '' for none."""
    place = reads_memory(one) or writes_memory(one)
    return "" if not is_memory(place) or UNREACHABLE.search(place) else place


def _record(number: int, place: str) -> str:
    """Instructions that store a number and the address of a place."""
    address = f"leaq {_lower(place)}, %rax" if place else "movl $0, %eax"
    return (
        f"\tleaq -{BELOW_BYTES}(%rsp), %rsp\n"
        "\tmovq %rax, (%rsp)\n\tmovq %rcx, 8(%rsp)\n"
        f"\t{address}\n"
        "\tmovq nhalf_trace_next(%rip), %rcx\n"
        "\tmovq %rax, 8(%rcx)\n"
        f"\tmovq ${number}, (%rcx)\n"
        f"\tleaq {RECORD_BYTES}(%rcx), %rcx\n"
        "\tmovq %rcx, nhalf_trace_next(%rip)\n"
        "\tmovq 8(%rsp), %rcx\n\tmovq (%rsp), %rax\n"
        f"\tleaq {BELOW_BYTES}(%rsp), %rsp"
    )


def _lower(place: str) -> str:
    """The same place after the stack pointer was lowered."""
    if not re.search(r"\(%rsp", place):
        return place
    displacement, _, rest = place.partition("(")
    return f"{displacement or 0}+{BELOW_BYTES}({rest}"


def executed(content: bytes) -> Iterator[Executed]:
    """The records of a run; raises FailedError for what is none."""
    if not content or len(content) % RECORD_BYTES:
        raise FailedError(f"{len(content)} bytes are no records of instructions")
    words = memoryview(content).cast("q")
    return (Executed(words[at], words[at + 1]) for at in range(0, len(words), 2))
