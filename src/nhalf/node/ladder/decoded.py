# SPDX-License-Identifier: Apache-2.0
"""Instructions as a core sees them: what they wait for, what they keep busy, and for how long."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from nhalf.machines.processor import Processor
from nhalf.node.ladder.addresses import registers_in
from nhalf.node.ladder.costs import cycles_of_call
from nhalf.node.ladder.listing import Instruction
from nhalf.node.ladder.micro import (
    Operation,
    arithmetic,
    is_memory,
    is_move,
    operations,
    reads_memory,
    width,
    writes_memory,
)
from nhalf.node.ladder.operands import inputs, is_copy, is_zero, results

LOADS = re.compile(r"mov[lq]?$")
ACCESSES = ("load", "store")
JOINED = ("cmp", "test", "add", "sub", "dec", "inc", "and")
"""With the conditional jump after it, such an instruction is one."""


@dataclass(frozen=True)
class Decoded:
    """One instruction.

    `slots` are its places in the front end, and `call_cycles` those for which a function of the C
    library that it calls keeps the front end. `busy_cycles` are units by name with the time that
    each is kept busy, and `again_cycles` those of an access that goes on in another line;
    `latency_cycles` are those from its operands, or from what it loads, to its result, and
    `to_others_cycles` how much later others than sums have that of a sum. `is_copy` says that it
    gives a register another name, and `waits` that it takes room among those that wait for
    operands.
    """

    slots: int
    call_cycles: float
    address_registers: tuple[str, ...]
    value_registers: tuple[str, ...]
    results: tuple[str, ...]
    loads: str
    stores: str
    busy_cycles: tuple[tuple[str, float], ...]
    again_cycles: tuple[tuple[str, float], ...]
    latency_cycles: float
    to_others_cycles: float
    is_sum: bool
    is_copy: bool
    waits: bool
    is_whole: bool
    is_jump: bool
    size_bytes: int


def decoded(
    instructions: Sequence[Instruction],
    processor: Processor,
    costs: Mapping[str, float] | None = None,
) -> list[Decoded]:
    """Every instruction of a listing on a processor; `costs` are cycles of functions it calls."""
    found = []
    before: Instruction | None = None
    for one in instructions:
        is_joined = (
            before is not None
            and one.is_jump
            and not one.name.startswith("jmp")
            and before.name.startswith(JOINED)
        )
        is_pair = before is not None and _pair(before, one) in processor.joined_pairs
        slots = 0 if is_joined or is_pair else 1
        found.append(_decoded(one, processor, slots, cycles_of_call(one, costs or {})))
        before = one
    return found


def _pair(move: Instruction, one: Instruction) -> str:
    """The kind of pair that a move makes with arithmetic on its result, '' where it is none."""
    if not move.operands or len(one.operands) < 2 or one.is_jump:
        return ""
    target, is_real = move.operands[-1], "mm" in one.operands[-1]
    plain = not any(map(is_memory, one.operands)) and not one.name.startswith(("v", "cmp", "test"))
    if not plain or one.operands[-1] != target or arithmetic(one) is None:
        return ""
    if is_copy(move):
        return "move" if is_real else "whole_move"
    return "whole_load" if LOADS.match(move.name) and not is_real and reads_memory(move) else ""


def _decoded(one: Instruction, processor: Processor, slots: int, call_cycles: float) -> Decoded:
    loads, stores = reads_memory(one), writes_memory(one)
    return Decoded(
        slots,
        call_cycles,
        tuple(registers_in(loads or stores)),
        tuple(inputs(one)),
        tuple(results(one)),
        loads,
        stores,
        tuple(_busy([] if is_zero(one) else operations(one), processor)),
        tuple(_busy(_again(one, processor), processor)),
        latency_cycles(one, processor),
        _to_others_cycles(one, processor),
        is_sum=_is_sum(one),
        is_copy=is_copy(one),
        waits=arithmetic(one) is not None and not is_zero(one) and not one.name.startswith("nop"),
        is_whole=not any("mm" in word for word in one.operands),
        is_jump=one.is_jump,
        size_bytes=8 * width(one),
    )


def latency_cycles(one: Instruction, processor: Processor) -> float:
    """From the operands of an instruction to its result, without loads; 0 for a move."""
    computed = arithmetic(one)
    if computed is None or is_zero(one):
        return 0.0
    for lanes in (computed.lanes, 1):
        known = processor.operation(computed.name, lanes)
        if known is not None and known.least_cycles is not None:
            return known.least_cycles
    return 0.0 if is_move(one) else 1.0


def _is_sum(one: Instruction) -> bool:
    computed = arithmetic(one)
    return computed is not None and computed.name == "add"


def _to_others_cycles(one: Instruction, processor: Processor) -> float:
    """By how much later others than sums have the result of a sum."""
    if not _is_sum(one):
        return 0.0
    computed = arithmetic(one)
    known = processor.operation("add", computed.lanes if computed else 1)
    known = known or processor.operation("add")
    if known is None or known.latency_to_others_cycles is None:
        return 0.0
    return max(0.0, known.latency_to_others_cycles - (known.least_cycles or 0.0))


def _busy(asked: Sequence[Operation], processor: Processor) -> list[tuple[str, float]]:
    """Units by name with the cycles that they are kept busy for."""
    found: dict[str, float] = {}
    for one in asked:
        cycles = processor.busy_cycles(one.name, one.lanes)
        if cycles:
            found[one.name] = found.get(one.name, 0.0) + cycles
        for unit in processor.units:
            if one.key in unit.cycles:
                found[unit.name] = found.get(unit.name, 0.0) + unit.cycles[one.key]
    return list(found.items())


def _again(one: Instruction, processor: Processor) -> list[Operation]:
    """The second access where one goes on in another line: of the half that does, if a processor
    takes vectors of this width in halves.
    """
    found = []
    for access in operations(one):
        if not access.name.endswith(ACCESSES):
            continue
        half = max(1, access.lanes // 2)
        both_cycles = 2 * processor.busy_cycles(access.name, half)
        is_halved = both_cycles <= processor.busy_cycles(access.name, access.lanes)
        found.append(Operation(access.name, half) if is_halved else access)
    return found
