"""Instructions as a core sees them: operands, results, busy units and latencies; and what of
registers and flags an instruction of x86-64 reads and writes.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nhalf.loops.listing.addresses import register, registers_in
from nhalf.loops.listing.library_costs import cycles_of_call
from nhalf.loops.listing.listing import Instruction
from nhalf.loops.listing.micro_ops import (
    WITHOUT_RESULT,
    MicroOperation,
    arithmetic,
    is_memory,
    is_move,
    operations,
    reads_memory,
    uses_vector_registers,
    width,
    writes_memory,
)
from nhalf.machines.processor import Processor

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


PLAIN_LOAD = re.compile(r"mov[lq]?$")
ACCESSES = ("load", "store")
FUSES_WITH_JUMP = ("cmp", "test", "add", "sub", "dec", "inc", "and")
"""Instructions that are fused with a conditional jump after them."""


@dataclass(frozen=True)
class Decoded:
    """One instruction.

    `issue_slots` are its slots in the front end, and `call_cycles` those for which a function of
    the C library that it calls keeps the front end busy. `busy_cycles` are units by name with the
    cycles that each is kept busy, and `line_split_cycles` those of the second access where one
    crosses a line. `latency_cycles` are from its operands, or from what it loads, to its result,
    and `non_add_delay_cycles` how much later other operations than additions can use the result of
    an addition. `load_address` and `store_address` are operands, '' for none. `is_copy` says that
    it only gives a register another name, and `uses_scheduler` that it waits for its operands in
    the scheduler.
    """

    issue_slots: int
    call_cycles: float
    address_registers: tuple[str, ...]
    value_registers: tuple[str, ...]
    results: tuple[str, ...]
    load_address: str
    store_address: str
    busy_cycles: tuple[tuple[str, float], ...]
    line_split_cycles: tuple[tuple[str, float], ...]
    latency_cycles: float
    non_add_delay_cycles: float
    is_add: bool
    is_copy: bool
    uses_scheduler: bool
    is_integer: bool
    is_jump: bool
    size_bytes: int


def decoded(
    instructions: Sequence[Instruction],
    processor: Processor,
    costs: Mapping[str, float] | None = None,
) -> list[Decoded]:
    """Decode a listing for a processor; `costs` are cycles of the functions that it calls."""
    result = []
    previous: Instruction | None = None
    for instruction in instructions:
        is_fused_jump = (
            previous is not None
            and instruction.is_jump
            and not instruction.name.startswith("jmp")
            and previous.name.startswith(FUSES_WITH_JUMP)
        )
        pair = _fused_pair(previous, instruction) if previous is not None else ""
        issue_slots = 0 if is_fused_jump or pair in processor.fused_pairs else 1
        call_cycles = cycles_of_call(instruction, costs or {})
        result.append(_decoded(instruction, processor, issue_slots, call_cycles))
        previous = instruction
    return result


def _fused_pair(move: Instruction, instruction: Instruction) -> str:
    """The kind of fused pair that a move and arithmetic on its result make; '' for none."""
    if not move.operands or len(instruction.operands) < 2 or instruction.is_jump:
        return ""
    target = instruction.operands[-1]
    reads = any(map(is_memory, instruction.operands))
    if reads or instruction.name.startswith(("v", "cmp", "test")):
        return ""
    if target != move.operands[-1] or arithmetic(instruction) is None:
        return ""
    is_integer = "mm" not in target
    if is_copy(move):
        return "integer_move" if is_integer else "move"
    is_load = PLAIN_LOAD.match(move.name) is not None and bool(reads_memory(move))
    return "integer_load" if is_load and is_integer else ""


def _decoded(
    instruction: Instruction, processor: Processor, issue_slots: int, call_cycles: float
) -> Decoded:
    load_address, store_address = reads_memory(instruction), writes_memory(instruction)
    operation = arithmetic(instruction)
    is_computed = operation is not None and not is_zero(instruction)
    return Decoded(
        issue_slots,
        call_cycles,
        tuple(registers_in(load_address or store_address)),
        tuple(inputs(instruction)),
        tuple(results(instruction)),
        load_address,
        store_address,
        tuple(_busy_cycles([] if is_zero(instruction) else operations(instruction), processor)),
        tuple(_busy_cycles(_line_split(instruction, processor), processor)),
        latency_cycles(instruction, processor),
        _non_add_delay_cycles(instruction, processor),
        is_add=operation is not None and operation.name == "add",
        is_copy=is_copy(instruction),
        uses_scheduler=is_computed and not instruction.name.startswith("nop"),
        is_integer=not uses_vector_registers(instruction),
        is_jump=instruction.is_jump,
        size_bytes=8 * width(instruction),
    )


def latency_cycles(instruction: Instruction, processor: Processor) -> float:
    """Cycles from the operands of an instruction to its result, without loads; 0 for a move."""
    operation = arithmetic(instruction)
    if operation is None or is_zero(instruction):
        return 0.0
    for lanes in (operation.lanes, 1):
        described = processor.operation(operation.name, lanes)
        if described is not None and described.least_cycles is not None:
            return described.least_cycles
    return 0.0 if is_move(instruction) else 1.0


def _non_add_delay_cycles(instruction: Instruction, processor: Processor) -> float:
    """How much later other operations than additions can use the result of an addition."""
    operation = arithmetic(instruction)
    if operation is None or operation.name != "add":
        return 0.0
    described = processor.operation("add", operation.lanes) or processor.operation("add")
    if described is None or described.latency_to_others_cycles is None:
        return 0.0
    return max(0.0, described.latency_to_others_cycles - (described.least_cycles or 0.0))


def _busy_cycles(
    demands: Sequence[MicroOperation], processor: Processor
) -> list[tuple[str, float]]:
    """Units by name with the cycles that operations keep them busy."""
    total_cycles: dict[str, float] = {}
    for operation in demands:
        cycles = processor.busy_cycles(operation.name, operation.lanes)
        if cycles:
            total_cycles[operation.name] = total_cycles.get(operation.name, 0.0) + cycles
        for unit in processor.units:
            if operation.key in unit.cycles:
                shared_cycles = unit.cycles[operation.key]
                total_cycles[unit.name] = total_cycles.get(unit.name, 0.0) + shared_cycles
    return list(total_cycles.items())


def _line_split(instruction: Instruction, processor: Processor) -> list[MicroOperation]:
    """The second access where one crosses a line: that of half the width if the processor splits
    vectors of this width into halves.
    """
    second_accesses = []
    for access in operations(instruction):
        if not access.name.endswith(ACCESSES):
            continue
        half = max(1, access.lanes // 2)
        two_halves_cycles = 2 * processor.busy_cycles(access.name, half)
        is_halved = two_halves_cycles <= processor.busy_cycles(access.name, access.lanes)
        second_accesses.append(MicroOperation(access.name, half) if is_halved else access)
    return second_accesses
