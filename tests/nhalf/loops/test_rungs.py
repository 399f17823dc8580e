"""Listings of compilers: operations, addresses, and chains through registers and memory."""

from __future__ import annotations

import pytest
from msgspec.structs import replace as replace_struct

from nhalf.loops.listing.listing import emitted_loops, loops_of_lines
from nhalf.loops.listing.micro_ops import MicroOperation, operations
from nhalf.loops.rungs import rungs
from nhalf.loops.schedule.dependency_chain import chain_cycles
from nhalf.machines.processor import Name, Processor, ProcessorOperation, Unit
from tests.nhalf.loops.source.reading import each

LATENCIES: dict[Name, float] = {
    "add": 2.0,
    "multiply": 3.0,
    "fused_multiply_add": 4.0,
    "load": 5.0,
    "integer": 1.0,
}
PROCESSOR = Processor(
    name="here",
    clock_hz=1e9,
    issue_per_cycle=4,
    store_forward_cycles=6,
    integer_store_forward_cycles=1,
    operations=(
        *(ProcessorOperation(name=n, per_cycle=2, latency_cycles=c) for n, c in LATENCIES.items()),
        ProcessorOperation(name="store", per_cycle=1),
    ),
)
HEAD = ".L3:\n\t.loc 1 3 5\n"
TAIL = "\taddq\t$1, %rax\n\tcmpq\t%rax, %rdi\n\tjne\t.L3\n\tret\n"
CHAINS = {
    "": 1.0,
    "\taddsd\t(%rsi,%rax,8), %xmm0\n": 2.0,
    "\tvfmadd231sd\t(%rsi,%rax,8), %xmm1, %xmm0\n": 4.0,
    "\tmovsd\t(%rsi,%rax,8), %xmm0\n\taddsd\t%xmm1, %xmm0\n": 1.0,
    "\txorpd\t%xmm0, %xmm0\n\taddsd\t%xmm1, %xmm0\n": 1.0,
    # A sum in memory; a counter in memory; the element before.
    "\tmovsd\t-8(%rbp), %xmm0\n\taddsd\t%xmm1, %xmm0\n\tmovsd\t%xmm0, -8(%rbp)\n": 8.0,
    "\taddq\t$1, -8(%rbp)\n": 2.0,
    "\tmovsd\t-8(%rsi,%rax,8), %xmm0\n\tmulsd\t%xmm1, %xmm0\n\tmovsd\t%xmm0, (%rsi,%rax,8)\n": 9.0,
    "\tmovsd\t-16(%rsi,%rax,8), %xmm0\n\tmovsd\t%xmm0, (%rsi,%rax,8)\n": 3.0,
    "\tmovsd\t8(%rsi,%rax,8), %xmm0\n\tmulsd\t%xmm1, %xmm0\n\tmovsd\t%xmm0, (%rsi,%rax,8)\n": 1.0,
}
MICRO_OPS = {
    "movsd (%rsi,%rax,8), %xmm0": [MicroOperation("load")],
    "vmovupd (%rsi,%rax), %zmm0": [MicroOperation("load", 8)],
    "vmovupd %ymm0, (%rsi,%rax)": [MicroOperation("store", 4)],
    "vaddpd (%rsi,%rax), %ymm1, %ymm0": [MicroOperation("load", 4), MicroOperation("add", 4)],
    "vfnmadd213sd %xmm2, %xmm1, %xmm0": [MicroOperation("fused_multiply_add")],
    "divpd %xmm1, %xmm0": [MicroOperation("divide", 2)],
    "addq $1, -8(%rbp)": [
        MicroOperation("integer_load"),
        MicroOperation("integer"),
        MicroOperation("integer_store"),
    ],
    "leaq 0(,%rax,8), %rdx": [MicroOperation("integer")],
    "cmpq -24(%rbp), %rax": [MicroOperation("integer_load"), MicroOperation("integer")],
    "movq %rax, %rdx": [],
    "movq y@GOTPCREL(%rip), %rax": [],
    "movsq": [],
    "vpermt2pd %ymm1, %ymm2, %ymm3": [MicroOperation("permute", 4)],
    "vinsertf128 $1, (%rax), %ymm1, %ymm2": [MicroOperation("load", 4)],
    "vgatherdpd (%rax,%xmm1,8), %ymm2{%k1}": [
        *[MicroOperation("load")] * 4,
        MicroOperation("gather", 4),
    ],
    "xorpd %xmm0, %xmm0": [MicroOperation("logical")],
    "jne .L3": [],
}


@pytest.mark.parametrize("listing", ["", ".L3:\n", "\tjmp\t.L9\n", "\tret\n"])
def test_a_listing_without_a_loop_has_none(listing: str) -> None:
    assert emitted_loops(listing) == []
    assert rungs(listing, [each("x[k] = y[k];")], PROCESSOR, True) == [None]


@pytest.mark.parametrize("text", MICRO_OPS)
def test_instructions_are_decoded_to_micro_ops(text: str) -> None:
    name, _, operands = text.partition(" ")
    (loop,) = emitted_loops(f".L3:\n\t{name}\t{operands}\n\tjmp\t.L3\n")[:1]
    assert operations(loop.instructions[0]) == MICRO_OPS[text]


@pytest.mark.parametrize("body", CHAINS)
def test_iterations_wait_for_each_other(body: str) -> None:
    (loop,) = emitted_loops(HEAD + body + TAIL)
    assert chain_cycles(loop, PROCESSOR) == pytest.approx(CHAINS[body])


def test_only_innermost_loops_are_taken_and_told_apart_by_their_lines() -> None:
    inner = HEAD + TAIL.removesuffix("\tret\n")
    innermost = emitted_loops(f".L2:\n\t.loc 1 2 1\n\tnop\n{inner}\tcmpq\t%rbx, %rcx\n\tjne\t.L2\n")
    assert [len(loop.instructions) for loop in innermost] == [3]
    assert loops_of_lines(innermost, 3, 3) == innermost
    assert loops_of_lines(innermost, 4, 9) == []


def test_a_vector_loop_does_several_iterations_at_a_time() -> None:
    body = "\tvmovupd\t(%rsi,%rax), %ymm0\n\tvaddpd\t(%rcx,%rax), %ymm0, %ymm0\n"
    text = HEAD + body + "\tvmovupd\t%ymm0, (%rdx,%rax)\n" + TAIL
    (vector_rungs,) = rungs(text, [each("x[k] = y[k] + z[k];")], PROCESSOR, True)
    assert vector_rungs is not None
    assert (vector_rungs.unit, vector_rungs.emitted_cycles) == ("issue", 5 / 4 / 4)
    assert (vector_rungs.chain_cycles, vector_rungs.is_vector) == (0.25, True)
    assert vector_rungs.scheduled_cycles == vector_rungs.emitted_cycles


BRANCH = "\tcomisd\t%xmm1, %xmm0\n\tjbe\t.L5\n\tdivsd\t%xmm1, %xmm0\n.L5:\n"


def test_what_a_pass_may_jump_over_bounds_nothing() -> None:
    (loop,) = emitted_loops(HEAD + BRANCH + TAIL)
    assert [loop.instructions[at].name for at in loop.skipped] == ["divsd"]
    (leaving,) = emitted_loops(HEAD + "\tjbe\t.L9\n" + TAIL.removesuffix("\tret\n") + ".L9:\n")
    assert not leaving.skipped
    (again,) = emitted_loops(HEAD + "\tjbe\t.L3\n" + TAIL)
    assert len(again.skipped) == 3


def test_iterations_of_a_pass_are_seen_by_how_far_it_goes() -> None:
    body = "".join(f"\tmovsd\t{8 * k}(%rsi,%rax,8), %xmm{k}\n" for k in range(4))
    text = HEAD + body + TAIL.replace("$1", "$4")
    (unrolled,) = rungs(text, [each("s += y[k];")], PROCESSOR, True)
    assert unrolled is not None
    assert unrolled.loads == 1.0


def test_loads_of_what_the_loop_stores_take_longer() -> None:
    rates = {"integer_load": 4, "forwarded_load": 2, "updated_load": 1}
    forwarded_loads = [
        ProcessorOperation(name=name, per_cycle=rate) for name, rate in rates.items()
    ]
    unit = Unit(name="loads", kind="memory", cycles={"load": 0.25, "integer_load": 0.25})
    operations = (*PROCESSOR.operations, *forwarded_loads)
    measured = replace_struct(PROCESSOR, operations=operations, units=(unit,))
    loads = "\tmovq\t-8(%rbp), %rcx\n" * 12
    for store, expected in (("movq\t%rdx", 6.0), ("addq\t$1", 13.0)):
        body = f"{loads}\t{store}, -8(%rbp)\n"
        (forwarding,) = rungs(HEAD + body + TAIL, [each("x[k] = y[k];")], measured, False)
        assert forwarding is not None
        assert (forwarding.unit, forwarding.emitted_cycles) == ("loads", expected)


def test_sums_and_products_share_a_unit() -> None:
    cycles = {"add": 1.0, "multiply": 1.0}
    unit = Unit(name="arithmetic", kind="floating_point", cycles=cycles)
    body = "\tmulsd\t%xmm1, %xmm2\n\taddsd\t%xmm1, %xmm3\n"
    shared = replace_struct(PROCESSOR, units=(unit,))
    (shared_rungs,) = rungs(HEAD + body + TAIL, [each("x[k] = y[k] * s + s;")], shared, True)
    assert shared_rungs is not None
    assert (shared_rungs.unit, shared_rungs.emitted_cycles) == ("arithmetic", 2.0)
