"""Instructions of x86-64 as micro-ops: loads, arithmetic on vectors, stores."""

import re
from dataclasses import dataclass

from nhalf.loops.listing.listing import Instruction
from nhalf.machines.processor import key_of

_FLOATING_POINT = re.compile(
    r"v?(add|sub|mul|div|sqrt|min|max|f?n?m(?:add|sub)(?:132|213|231)?)([ps])([sd])$"
)
_FUSED = re.compile(r"vfn?m(?:add|sub)(?:132|213|231)?([ps])([sd])$")
OPERATION_NAMES = {
    "add": "add",
    "sub": "add",
    "min": "minimum",
    "max": "minimum",
    "mul": "multiply",
}
OPERATION_NAMES |= {"div": "divide", "sqrt": "square_root"}
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
class MicroOperation:
    """A micro-op of an instruction: a named operation on `lanes` numbers at once."""

    name: str
    lanes: int = 1

    @property
    def key(self) -> str:
        """Its key in the units of a processor."""
        return key_of(self.name, self.lanes)


def uses_vector_registers(instruction: Instruction) -> bool:
    """Whether an operand is a vector register, which scalar floating-point numbers use as well."""
    return any("mm" in operand for operand in instruction.operands)


def is_memory(operand: str) -> bool:
    """Whether an operand is in memory."""
    return "(" in operand


def reads_memory(instruction: Instruction) -> str:
    """The operand that an instruction loads from; '' for none."""
    if instruction.name.startswith(("lea", "nop", "prefetch", "j")) or _is_linked(instruction):
        return ""
    sources = [operand for operand in instruction.operands[:-1] if is_memory(operand)]
    last = instruction.operands[-1] if instruction.operands else ""
    if not sources and is_memory(last) and not is_move(instruction):
        sources = [last]
    return sources[0] if sources else ""


def _is_linked(instruction: Instruction) -> bool:
    """Whether it loads the address of a variable of the same program: linkers relax it to `lea`."""
    return instruction.name.startswith("mov") and "@GOTPCREL(%rip)" in "".join(
        instruction.operands[:1]
    )


def writes_memory(instruction: Instruction) -> str:
    """The operand that an instruction stores to; '' for none."""
    last = instruction.operands[-1] if instruction.operands else ""
    if instruction.name.startswith(("lea", *WITHOUT_RESULT)) or not is_memory(last):
        return ""
    return last


def is_move(instruction: Instruction) -> bool:
    """Whether its last operand is written and not read."""
    return instruction.name.startswith(MOVES)


def arithmetic(instruction: Instruction) -> MicroOperation | None:
    """What it computes: floating-point arithmetic, else mostly `integer`; None for a move."""
    fused = _FUSED.match(instruction.name)
    if fused:
        return MicroOperation("fused_multiply_add", _lanes(instruction, fused[1], fused[2]))
    match = _FLOATING_POINT.match(instruction.name)
    if match and match[1] in OPERATION_NAMES:
        return MicroOperation(OPERATION_NAMES[match[1]], _lanes(instruction, match[2], match[3]))
    conversion = _conversion(instruction)
    if conversion:
        return MicroOperation(conversion)
    is_plain_move = is_move(instruction) and not instruction.name.startswith("lea")
    return None if is_plain_move else _other_operation(instruction)


def _other_operation(instruction: Instruction) -> MicroOperation | None:
    """The operation of what is neither floating-point arithmetic nor a move."""
    if instruction.name.startswith(PERMUTES) and not instruction.name.startswith(IN_LANE):
        is_access = reads_memory(instruction) or writes_memory(instruction)
        return None if is_access else MicroOperation("permute", width(instruction))
    for name in ("gather", "scatter"):
        if name in instruction.name:
            return MicroOperation(name, width(instruction))
    if uses_vector_registers(instruction):
        return MicroOperation(_vector_operation(instruction))
    is_multiply = instruction.name.startswith(("imul", "mul"))
    return MicroOperation("integer_multiply" if is_multiply else "integer")


def _conversion(instruction: Instruction) -> str:
    """The conversion, move between kinds of registers, or comparison that it is; '' for none."""
    if _CONVERSION.match(instruction.name):
        return "convert"
    if _ACROSS.match(instruction.name) and not any(map(is_memory, instruction.operands)):
        return "across" if len({"mm" in operand for operand in instruction.operands}) > 1 else ""
    return "compare" if "comis" in instruction.name else ""


def _vector_operation(instruction: Instruction) -> str:
    """The operation of a vector instruction that is neither arithmetic nor a plain move."""
    if _SHUFFLE.match(instruction.name):
        return "shuffle"
    return "logical" if _LOGICAL.match(instruction.name) else "vector"


def width(instruction: Instruction) -> int:
    """The count of eight-byte numbers that it loads or stores."""
    if re.search(r"s[sd]$", instruction.name) and not instruction.name.startswith("vbroadcast"):
        return 1
    widths_bytes = _widths_bytes(instruction)
    is_scalar = instruction.name.startswith(
        ("vbroadcast", "vpbroadcast", "movq", "movlp", "movhp", "vmovq")
    )
    return 1 if is_scalar or not widths_bytes else max(widths_bytes) // 8


def operations(instruction: Instruction) -> list[MicroOperation]:
    """The micro-ops of an instruction."""
    kind = "" if uses_vector_registers(instruction) else "integer_"
    micro_ops = (
        [MicroOperation(f"{kind}load", width(instruction))] if reads_memory(instruction) else []
    )
    if "gather" in instruction.name:
        micro_ops = [MicroOperation("load")] * width(instruction)
    if "scatter" in instruction.name:
        return [MicroOperation("store")] * width(instruction)
    operation = arithmetic(instruction)
    if operation is not None and not instruction.is_jump and not instruction.name.startswith("nop"):
        micro_ops.append(operation)
    if writes_memory(instruction):
        micro_ops.append(MicroOperation(f"{kind}store", width(instruction)))
    return micro_ops


def _widths_bytes(instruction: Instruction) -> list[int]:
    """The widths of its vector registers."""
    operands = instruction.operands
    return [size for text in operands for key, size in WIDTHS_BYTES.items() if key in text]


def _lanes(instruction: Instruction, packing: str, precision: str) -> int:
    if packing == "s":
        return 1
    return max(_widths_bytes(instruction), default=16) // (8 if precision == "d" else 4)
