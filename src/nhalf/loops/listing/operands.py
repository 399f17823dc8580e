"""Registers and flags that an instruction of x86-64 reads and writes."""

import re

from nhalf.loops.listing.addresses import register, registers_in
from nhalf.loops.listing.listing import Instruction
from nhalf.loops.listing.micro_ops import WITHOUT_RESULT, is_memory, is_move, writes_memory

FLAGS = "flags"
COMPARES = ("cmp", "test", "comis", "ucomis", "vcomis", "vucomis")
WRITES_FLAGS = ("add", "sub", "and", "or", "xor", "inc", "dec", "neg", "sal", "shl", "sar", "shr")
READS_FLAGS = ("cmov", "set", "adc", "sbb", "j")
REPLACES = ("set", "pop")
MERGES = ("movhp", "movlp", "vpermt2", "vpermi2")
"""Moves and vector operations that keep a part of their destination."""
COPY = re.compile(r"v?mov[ad](?:p[sd]|q[au](?:32|64)?)$|mov[lq]?$")
"""Moves that replace a whole register."""
PAIR = ("idiv", "div", "mul", "imul", "cqto", "cltq", "cqo")
"""Instructions that work on two fixed registers if they have at most one operand."""


def is_zero(instruction: Instruction) -> bool:
    """Whether the result is 0 whatever the registers hold."""
    registers = [operand for operand in instruction.operands if not is_memory(operand)]
    if "xor" not in instruction.name or len(registers) != len(instruction.operands):
        return False
    return len(registers) > 1 and len(set(registers)) == 1


def is_copy(instruction: Instruction) -> bool:
    """Whether it only copies a whole register: processors eliminate it by renaming."""
    return COPY.match(instruction.name) is not None and all(map(register, instruction.operands))


def inputs(instruction: Instruction) -> list[str]:
    """The registers that an instruction computes with, except those of addresses, and flags."""
    name = instruction.name
    flags = [FLAGS] if name.startswith(READS_FLAGS) and name != "jmp" else []
    if is_zero(instruction):
        return flags
    if instruction.name.startswith(PAIR) and len(instruction.operands) < 2:
        return ["rax", "rdx", *filter(None, map(register, instruction.operands))]
    direct = [operand for operand in instruction.operands if not is_memory(operand)]
    is_lea = name.startswith("lea") and bool(instruction.operands)
    address_registers = registers_in(instruction.operands[0]) if is_lea else []
    used = direct if _reads_last(instruction) or writes_memory(instruction) else direct[:-1]
    return [*address_registers, *filter(None, map(register, used)), *flags]


def _reads_last(instruction: Instruction) -> bool:
    """Whether the last operand is read, whether or not it is written."""
    if instruction.name.startswith((*COMPARES, *MERGES, "push")):
        return True
    if instruction.name.startswith(("lea", *REPLACES)) or is_move(instruction):
        return False
    return not instruction.name.startswith("v") or instruction.name.startswith("vf")


def results(instruction: Instruction) -> list[str]:
    """The registers that an instruction writes, and flags."""
    if instruction.name.startswith(PAIR) and len(instruction.operands) < 2:
        return ["rax", "rdx"]
    if instruction.name.startswith(COMPARES):
        return [FLAGS]
    written = [FLAGS] if instruction.name.startswith(WRITES_FLAGS) else []
    if not instruction.operands or instruction.name.startswith((*WITHOUT_RESULT, "push", "call")):
        return written
    last = register(instruction.operands[-1])
    return [*written, last] if last else written
