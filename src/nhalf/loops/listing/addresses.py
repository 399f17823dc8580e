"""Integers in registers and in memory while a loop runs, as polynomials where they are known."""

import re
from dataclasses import dataclass, field

from nhalf.loops.listing.listing import EmittedLoop, Instruction
from nhalf.loops.listing.micro_ops import WITHOUT_RESULT, is_memory
from nhalf.loops.source.polynomial import ITERATION, VARYING, Polynomial, integer, symbol

_LEGACY_REGISTERS = {"a": "ax", "b": "bx", "c": "cx", "d": "dx"}
_ADDRESS = re.compile(r"^([^()]*)\(([^()]*)\)$")
_VECTOR = re.compile(r"[xyz]mm(\d+)")


def register(operand: str) -> str:
    """A register by the name of its widest form; '' for any other operand."""
    if not operand.startswith("%"):
        return ""
    text = operand[1:].split("{", maxsplit=1)[0]
    vector = _VECTOR.match(text)
    if vector:
        return f"v{vector[1]}"
    if re.fullmatch(r"r\d+[dwb]?", text):
        return text.rstrip("dwb")
    letters = text.removeprefix("r").removeprefix("e")
    letters = (
        _LEGACY_REGISTERS.get(letters[:-1], letters) if letters[-1:] in {"l", "h"} else letters
    )
    return f"r{letters.removesuffix('l') if len(letters) == 3 else letters}"


def registers_in(operand: str) -> list[str]:
    """The registers of an operand: itself, or those of an address."""
    return [register(text) for text in re.findall(r"%\w+", operand) if register(text) != "rrip"]


@dataclass
class IntegerValues:
    """Integers by register and by address; `unknowns` counts values that could not be computed."""

    values: dict[str, Polynomial] = field(default_factory=dict)
    unknowns: int = 0

    def at(self, key: str) -> Polynomial:
        """The integer in a register or at an address; a symbol if it is the initial one."""
        return self.values.setdefault(key, symbol(f"{key}@start"))

    def address(self, operand: str) -> Polynomial:
        """The address that an operand names."""
        match = _ADDRESS.match(operand.lstrip("*"))
        if match is None:
            return symbol(operand)
        base, index, scale = ([*match[2].split(","), "", ""])[:3]
        address = _displacement(match[1])
        if base.strip() and "rip" not in base:
            address += self.at(register(base.strip()))
        if index.strip():
            address += self.at(register(index.strip())) * integer(int(scale.strip() or 1))
        return address

    def value(self, operand: str) -> Polynomial:
        """The integer that an operand holds."""
        if operand.startswith("$"):
            return _displacement(operand[1:])
        if is_memory(operand):
            return self.at(f"[{self.address(operand).key}]")
        return self.at(register(operand))

    def step(self, instruction: Instruction, may_be_skipped: bool = False) -> None:
        """Apply an instruction: update the register or the address that it writes."""
        if (
            not instruction.operands
            or instruction.is_jump
            or instruction.name.startswith(WITHOUT_RESULT)
        ):
            return
        operand = instruction.operands[-1]
        key = f"[{self.address(operand).key}]" if is_memory(operand) else register(operand)
        self.values[key] = self._unknown() if may_be_skipped else self._result(instruction)

    def _unknown(self) -> Polynomial:
        self.unknowns += 1
        return symbol(f"{VARYING}{self.unknowns}")

    def _result(self, instruction: Instruction) -> Polynomial:
        first, target = instruction.operands[0], instruction.operands[-1]
        mnemonic = re.sub(r"[bwlq]$", "", instruction.name)
        if mnemonic == "lea":
            return self.address(first)
        if mnemonic in {"mov", "movabs", "movsl", "movslq"} and not register(target).startswith(
            "v"
        ):
            return self.value(first)
        if mnemonic in {"add", "sub"}:
            change = self.value(first)
            return self.value(target) + (change if mnemonic == "add" else -change)
        if mnemonic in {"inc", "dec"}:
            return self.value(target) + integer(1 if mnemonic == "inc" else -1)
        if mnemonic in {"sal", "shl"} and first.startswith("$"):
            return self.value(target) * integer(2 ** (int(first[1:], 0) % 64))
        return self._unknown()


def _displacement(text: str) -> Polynomial:
    """The displacement of an address: a number, a symbol, or both."""
    total = Polynomial()
    for sign, word in re.findall(r"([+-]?)([\w.$@]+)", text):
        amount = integer(int(word, 0)) if re.fullmatch(r"\d\w*", word) else symbol(word)
        total += -amount if sign == "-" else amount
    return total


def in_any_iteration(loop: EmittedLoop) -> IntegerValues:
    """Integers at the start of an iteration: counters as functions of its number."""
    first_pass = IntegerValues()
    for position, instruction in enumerate(loop.instructions):
        first_pass.step(instruction, position in loop.skipped)
    start_values: dict[str, Polynomial] = {}
    for key, after in first_pass.values.items():
        start = symbol(f"{key}@start")
        growth = after - start
        if not any(
            symbol.startswith(VARYING) or symbol.endswith("@start") for symbol in growth.names
        ):
            start_values[key] = start + growth * symbol(ITERATION)
        elif start.terms[0][0][0] not in after.names or growth.terms:
            start_values[key] = symbol(f"{VARYING}{key}")
    return IntegerValues(start_values, 1000)
