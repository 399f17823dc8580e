# SPDX-License-Identifier: Apache-2.0
"""Instructions of x86-64 as operations of units: loads, arithmetic on vectors, stores."""

from __future__ import annotations

import re
from dataclasses import dataclass

from nhalf.machines.processor import key_of
from nhalf.node.ladder.listing import Instruction

_REAL = re.compile(
    r"v?(add|sub|mul|div|sqrt|min|max|f?n?m(?:add|sub)(?:132|213|231)?)([ps])([sd])$"
)
_FUSED = re.compile(r"vfn?m(?:add|sub)(?:132|213|231)?([ps])([sd])$")
NAMES = {"add": "add", "sub": "add", "min": "minimum", "max": "minimum", "mul": "multiply"}
NAMES |= {"div": "divide", "sqrt": "square_root"}
_CONVERSION = re.compile(r"v?cvt\w*(si|qq|dq)")
_ACROSS = re.compile(r"v?mov[qd]$")
_SHUFFLE = re.compile(r"v?(align[qd]|unpck|shuf|pshuf|punpck|movddup|movhl|movlh|perm?il|permil)")
_LOGICAL = re.compile(r"v?p?(and|andn|or|xor)(p[sd]|[dq])?$")
WIDTHS_BYTES = {"%xmm": 16, "%ymm": 32, "%zmm": 64}
PERMUTES = ("vperm", "vinsertf", "vinserti", "vextractf", "vextracti")
IN_LANE = ("vpermil",)
WITHOUT_RESULT = ("cmp", "test", "comis", "ucomis", "vcomis", "vucomis", "j", "nop", "prefetch")
MOVES = ("mov", "vmov", "movs", "cvt", "vcvt", "lea", "vbroadcast", "vpbroadcast")


@dataclass(frozen=True)
class Operation:
    """An instruction's demand on a unit: a named operation on this many numbers at once."""

    name: str
    lanes: int = 1

    @property
    def key(self) -> str:
        """Its name in units of a processor."""
        return key_of(self.name, self.lanes)


def is_memory(operand: str) -> bool:
    """Whether an operand is in memory."""
    return "(" in operand


def reads_memory(one: Instruction) -> str:
    """The place that an instruction loads from, '' for none."""
    if one.name.startswith(("lea", "nop", "prefetch", "j")) or _is_linked(one):
        return ""
    places = [word for word in one.operands[:-1] if is_memory(word)]
    last = one.operands[-1] if one.operands else ""
    if not places and is_memory(last) and not is_move(one):
        places = [last]
    return places[0] if places else ""


def _is_linked(one: Instruction) -> bool:
    """Whether it loads the address of a variable of the same program: linkers make that a `lea`."""
    return one.name.startswith("mov") and "@GOTPCREL(%rip)" in "".join(one.operands[:1])


def writes_memory(one: Instruction) -> str:
    """The place that an instruction stores to, '' for none."""
    last = one.operands[-1] if one.operands else ""
    if one.name.startswith(("lea", *WITHOUT_RESULT)) or not is_memory(last):
        return ""
    return last


def is_move(one: Instruction) -> bool:
    """Whether its last operand is written and not read."""
    return one.name.startswith(MOVES)


def arithmetic(one: Instruction) -> Operation | None:
    """What it computes: real arithmetic, or `integer` for everything else; None for a move."""
    fused = _FUSED.match(one.name)
    if fused:
        return Operation("fused_multiply_add", _lanes(one, fused[1], fused[2]))
    real = _REAL.match(one.name)
    if real and real[1] in NAMES:
        return Operation(NAMES[real[1]], _lanes(one, real[2], real[3]))
    known = _conversion(one)
    if known:
        return Operation(known)
    return None if is_move(one) and not one.name.startswith("lea") else _other(one)


def _other(one: Instruction) -> Operation | None:
    """What is neither real arithmetic nor a move."""
    if one.name.startswith(PERMUTES) and not one.name.startswith(IN_LANE):
        return None if reads_memory(one) or writes_memory(one) else Operation("permute", width(one))
    for name in ("gather", "scatter"):
        if name in one.name:
            return Operation(name, width(one))
    if any("mm" in word for word in one.operands):
        return Operation(_of_vectors(one))
    return Operation("integer_multiply" if one.name.startswith(("imul", "mul")) else "integer")


def _conversion(one: Instruction) -> str:
    """What brings a number from one kind of register to the other, or compares it; '' for none."""
    if _CONVERSION.match(one.name):
        return "convert"
    if _ACROSS.match(one.name) and not any(map(is_memory, one.operands)):
        kinds = {"mm" in word for word in one.operands}
        return "across" if len(kinds) > 1 else ""
    return "compare" if "comis" in one.name else ""


def _of_vectors(one: Instruction) -> str:
    """What neither computes nor moves real numbers only."""
    if _SHUFFLE.match(one.name):
        return "shuffle"
    return "logical" if _LOGICAL.match(one.name) else "vector"


def width(one: Instruction) -> int:
    """How many numbers of eight bytes it loads or stores."""
    if re.search(r"s[sd]$", one.name) and not one.name.startswith("vbroadcast"):
        return 1
    widths = [size for text in one.operands for key, size in WIDTHS_BYTES.items() if key in text]
    scalar = one.name.startswith(("vbroadcast", "vpbroadcast", "movq", "movlp", "movhp", "vmovq"))
    return 1 if scalar or not widths else max(widths) // 8


def operations(one: Instruction) -> list[Operation]:
    """All that it asks of units."""
    whole = "" if any("mm" in word for word in one.operands) else "whole_"
    found = [Operation(f"{whole}load", width(one))] if reads_memory(one) else []
    if "gather" in one.name:
        found = [Operation("load")] * width(one)
    if "scatter" in one.name:
        return [Operation("store")] * width(one)
    computed = arithmetic(one)
    if computed is not None and not one.is_jump and not one.name.startswith("nop"):
        found.append(computed)
    if writes_memory(one):
        found.append(Operation(f"{whole}store", width(one)))
    return found


def _lanes(one: Instruction, packing: str, precision: str) -> int:
    if packing == "s":
        return 1
    widths = [size for text in one.operands for key, size in WIDTHS_BYTES.items() if key in text]
    return max(widths, default=16) // (8 if precision == "d" else 4)
