# SPDX-License-Identifier: Apache-2.0
"""What whole numbers are in registers and in memory while a loop runs, as far as that is plain."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from nhalf.node.bound.polynomial import ITERATION, VARYING, Polynomial, name, whole
from nhalf.node.ladder.listing import EmittedLoop, Instruction
from nhalf.node.ladder.micro import WITHOUT_RESULT, is_memory

_OLD = {"a": "ax", "b": "bx", "c": "cx", "d": "dx"}
_ADDRESS = re.compile(r"^([^()]*)\(([^()]*)\)$")
_VECTOR = re.compile(r"[xyz]mm(\d+)")


def register(operand: str) -> str:
    """A register by the name of its widest form; '' for what is none."""
    if not operand.startswith("%"):
        return ""
    called = operand[1:].split("{", maxsplit=1)[0]
    vector = _VECTOR.match(called)
    if vector:
        return f"v{vector[1]}"
    if re.fullmatch(r"r\d+[dwb]?", called):
        return called.rstrip("dwb")
    core = called.removeprefix("r").removeprefix("e")
    core = _OLD.get(core[:-1], core) if core[-1:] in {"l", "h"} else core
    return f"r{core.removesuffix('l') if len(core) == 3 else core}"


def registers_in(operand: str) -> list[str]:
    """The registers of an operand: itself, or those of an address."""
    return [register(one) for one in re.findall(r"%\w+", operand) if register(one) != "rrip"]


@dataclass
class Numbers:
    """Whole numbers by register, and by place of memory; `steps` are those of loop counters."""

    known: dict[str, Polynomial] = field(default_factory=dict)
    unknowns: int = 0

    def of(self, key: str) -> Polynomial:
        """What stands there, a name where it is what stood there first."""
        return self.known.setdefault(key, name(f"{key}@start"))

    def address(self, operand: str) -> Polynomial:
        """The address that an operand is."""
        found = _ADDRESS.match(operand.lstrip("*"))
        if found is None:
            return name(operand)
        base, index, scale = ([*found[2].split(","), "", ""])[:3]
        sum_ = _displacement(found[1])
        if base.strip() and "rip" not in base:
            sum_ += self.of(register(base.strip()))
        if index.strip():
            sum_ += self.of(register(index.strip())) * whole(int(scale.strip() or 1))
        return sum_

    def value(self, operand: str) -> Polynomial:
        """The number that an operand is."""
        if operand.startswith("$"):
            return _displacement(operand[1:])
        if is_memory(operand):
            return self.of(f"[{self.address(operand).key}]")
        return self.of(register(operand))

    def step(self, one: Instruction, may_be_skipped: bool = False) -> None:
        """What an instruction changes."""
        if not one.operands or one.is_jump or one.name.startswith(WITHOUT_RESULT):
            return
        target = one.operands[-1]
        key = f"[{self.address(target).key}]" if is_memory(target) else register(target)
        self.known[key] = self._unknown() if may_be_skipped else self._result(one)

    def _unknown(self) -> Polynomial:
        self.unknowns += 1
        return name(f"{VARYING}{self.unknowns}")

    def _result(self, one: Instruction) -> Polynomial:
        first, target = one.operands[0], one.operands[-1]
        core = re.sub(r"[bwlq]$", "", one.name)
        if core == "lea":
            return self.address(first)
        if core in {"mov", "movabs", "movsl", "movslq"} and not register(target).startswith("v"):
            return self.value(first)
        if core in {"add", "sub"}:
            change = self.value(first)
            return self.value(target) + (change if core == "add" else -change)
        if core in {"inc", "dec"}:
            return self.value(target) + whole(1 if core == "inc" else -1)
        if core in {"sal", "shl"} and first.startswith("$"):
            return self.value(target) * whole(2 ** (int(first[1:], 0) % 64))
        return self._unknown()


def _displacement(text: str) -> Polynomial:
    """A number, a symbol, or both."""
    total = Polynomial()
    for sign, word in re.findall(r"([+-]?)([\w.$@]+)", text):
        amount = whole(int(word, 0)) if re.fullmatch(r"\d\w*", word) else name(word)
        total += -amount if sign == "-" else amount
    return total


def in_any_iteration(loop: EmittedLoop) -> Numbers:
    """What numbers are when an iteration begins, counters by its number."""
    once = Numbers()
    for at, one in enumerate(loop.instructions):
        once.step(one, at in loop.skipped)
    begin: dict[str, Polynomial] = {}
    for key, after in once.known.items():
        start = name(f"{key}@start")
        grown = after - start
        if not any(one.startswith(VARYING) or one.endswith("@start") for one in grown.names):
            begin[key] = start + grown * name(ITERATION)
        elif start.terms[0][0][0] not in after.names or grown.terms:
            begin[key] = name(f"{VARYING}{key}")
    return Numbers(begin, 1000)
