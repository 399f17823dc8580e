"""Traces of executed instructions and their addresses, from a listing that records itself.

Before each instruction its number and the address that it accesses are stored, by instructions that
change no flag and no register.
"""

import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from nhalf.base.errors import FailedError
from nhalf.loops.listing.listing import Instruction, instruction, is_instruction
from nhalf.loops.listing.micro_ops import is_memory, reads_memory, writes_memory

SKIPPED_STACK_BYTES = 256
"""Records skip this much below the stack pointer: leaf functions use a red zone of 128 bytes."""
RECORD_BYTES = 16
FUNCTION = re.compile(r"([A-Za-z_$][\w$]*)[.\w$]*:")
UNREACHABLE = re.compile(r"%[xyz]mm|%[fg]s:|\{")
"""Addresses that no single `lea` can compute."""


class Executed(NamedTuple):
    """One executed instruction by its number in the listing; address 0: it accesses no memory.

    `missed` are lines that it needs and the nearest cache does not hold.
    """

    number: int
    address: int
    missed: int = 0


def recording(listing: str, functions: Collection[str] | None = None) -> str:
    """The listing with a record before each instruction, at `nhalf_trace_next`.

    If `functions` are given, only these record, including parts that a compiler split off them.
    """
    lines = []
    number = 0
    function = ""
    for text in listing.splitlines():
        label = FUNCTION.match(text)
        function = label[1] if label else function
        if is_instruction(text.strip()):
            if functions is None or function in functions:
                lines.append(_record(number, _accessed_operand(instruction(text.strip()))))
            number += 1
        lines.append(text)
    return "\n".join(lines) + "\n"


def _accessed_operand(parsed: Instruction) -> str:
    """The operand whose address is recorded; '' for none."""
    operand = reads_memory(parsed) or writes_memory(parsed)
    return "" if not is_memory(operand) or UNREACHABLE.search(operand) else operand


def _record(number: int, operand: str) -> str:
    """The instructions that store a number and the address of an operand."""
    address = f"leaq {_with_lowered_stack(operand)}, %rax" if operand else "movl $0, %eax"
    return (
        f"\tleaq -{SKIPPED_STACK_BYTES}(%rsp), %rsp\n"
        "\tmovq %rax, (%rsp)\n\tmovq %rcx, 8(%rsp)\n"
        f"\t{address}\n"
        "\tmovq nhalf_trace_next(%rip), %rcx\n"
        "\tmovq %rax, 8(%rcx)\n"
        f"\tmovq ${number}, (%rcx)\n"
        f"\tleaq {RECORD_BYTES}(%rcx), %rcx\n"
        "\tmovq %rcx, nhalf_trace_next(%rip)\n"
        "\tmovq 8(%rsp), %rcx\n\tmovq (%rsp), %rax\n"
        f"\tleaq {SKIPPED_STACK_BYTES}(%rsp), %rsp"
    )


def _with_lowered_stack(operand: str) -> str:
    """Adjust an operand to the lowered stack pointer."""
    if not re.search(r"\(%rsp", operand):
        return operand
    displacement, _, base_and_index = operand.partition("(")
    return f"{displacement or 0}+{SKIPPED_STACK_BYTES}({base_and_index}"


def executed(content: bytes) -> Iterator[Executed]:
    """Read the records of a run; raises FailedError if the content is not records."""
    if not content or len(content) % RECORD_BYTES:
        raise FailedError(f"{len(content)} bytes are no records of instructions")
    words = memoryview(content).cast("q")
    return (Executed(words[index], words[index + 1]) for index in range(0, len(words), 2))
