# SPDX-License-Identifier: Apache-2.0
"""Registers and flags that an instruction of x86-64 waits for, and what it changes."""

from __future__ import annotations

import re

from nhalf.node.ladder.addresses import register, registers_in
from nhalf.node.ladder.listing import Instruction
from nhalf.node.ladder.micro import WITHOUT_RESULT, is_memory, is_move, writes_memory

FLAGS = "flags"
COMPARES = ("cmp", "test", "comis", "ucomis", "vcomis", "vucomis")
WRITES_FLAGS = ("add", "sub", "and", "or", "xor", "inc", "dec", "neg", "sal", "shl", "sar", "shr")
READS_FLAGS = ("cmov", "set", "adc", "sbb", "j")
REPLACES = ("set", "pop")
MERGES = ("movhp", "movlp", "vpermt2", "vpermi2")
"""Of moves and vector operations, those that keep a part of where the result goes."""
COPY = re.compile(r"v?mov[ad](?:p[sd]|q[au](?:32|64)?)$|mov[lq]?$")
"""Moves that replace all of a register."""
PAIR = ("idiv", "div", "mul", "imul", "cqto", "cltq", "cqo")
"""With one operand or none, these work on two fixed registers."""


def is_zero(one: Instruction) -> bool:
    """Whether the result is 0 whatever the registers hold."""
    plain = [word for word in one.operands if not is_memory(word)]
    return "xor" in one.name and len(one.operands) == len(plain) > 1 and len(set(plain)) == 1


def is_copy(one: Instruction) -> bool:
    """Whether it only gives a whole register another name: processors do so when they rename."""
    return COPY.match(one.name) is not None and all(map(register, one.operands))


def inputs(one: Instruction) -> list[str]:
    """The registers that an instruction computes with, those of addresses apart, and flags."""
    flags = [FLAGS] if one.name.startswith(READS_FLAGS) and one.name != "jmp" else []
    if is_zero(one):
        return flags
    if one.name.startswith(PAIR) and len(one.operands) < 2:
        return ["rax", "rdx", *filter(None, map(register, one.operands))]
    plain = [word for word in one.operands if not is_memory(word)]
    is_lea = one.name.startswith("lea")
    inside = registers_in(one.operands[0]) if is_lea and one.operands else []
    used = plain if _reads_last(one) or writes_memory(one) else plain[:-1]
    return [*inside, *filter(None, map(register, used)), *flags]


def _reads_last(one: Instruction) -> bool:
    """Whether the last operand is read, be it written or not."""
    if one.name.startswith((*COMPARES, *MERGES, "push")):
        return True
    if one.name.startswith(("lea", *REPLACES)) or is_move(one):
        return False
    return not one.name.startswith("v") or one.name.startswith("vf")


def results(one: Instruction) -> list[str]:
    """The registers that an instruction writes, and flags."""
    if one.name.startswith(PAIR) and len(one.operands) < 2:
        return ["rax", "rdx"]
    if one.name.startswith(COMPARES):
        return [FLAGS]
    found = [FLAGS] if one.name.startswith(WRITES_FLAGS) else []
    if not one.operands or one.name.startswith((*WITHOUT_RESULT, "push", "call")):
        return found
    last = register(one.operands[-1])
    return [*found, last] if last else found
