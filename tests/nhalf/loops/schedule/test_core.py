"""Instructions one by one on a known core: dependencies, units and latencies."""

from __future__ import annotations

import pytest
from msgspec.structs import replace

from nhalf.loops.listing.decoded import decoded
from nhalf.loops.listing.listing import instruction
from nhalf.loops.schedule.executed import trace_cycles, with_misses
from nhalf.loops.schedule.tracing import Executed, executed, recording
from nhalf.machines.processor import Cache, Name, Pair, Processor, ProcessorOperation, Unit

RATES: dict[Name, tuple[float, float]] = {
    "add": (2, 2), "multiply": (2, 3), "divide": (0.25, 14), "load": (2, 5), "store": (1, 1),
    "integer": (4, 1), "compare": (1, 2),
}  # fmt: skip
PROCESSOR = Processor(
    name="known",
    clock_hz=1e9,
    issue_per_cycle=4,
    store_forward_cycles=5,
    integer_store_forward_cycles=0,
    operations=tuple(
        ProcessorOperation(name=name, per_cycle=rate, latency_cycles=late)
        for name, (rate, late) in RATES.items()
    ),
)
ITERATIONS = 400
ADDRESS = 1 << 20


def cycles(
    text: str, processor: Processor = PROCESSOR, step_bytes: int = 0, first_byte: int = 0
) -> float:
    """Cycles of a body of instructions that are executed again and again."""
    lines = text.split("; ")
    instructions = decoded([instruction(line) for line in lines], processor)
    trace = [
        Executed(position, ADDRESS + first_byte + iteration * step_bytes if "(" in line else 0)
        for iteration in range(ITERATIONS)
        for position, line in enumerate(lines)
    ]
    return trace_cycles(trace, instructions, processor) / ITERATIONS


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("nop", 0.25),
        ("addsd %xmm1, %xmm0", 2),
        ("addsd %xmm1, %xmm0; addsd %xmm1, %xmm2", 2),
        ("mulsd %xmm1, %xmm0; addsd %xmm1, %xmm0", 5),
        ("movsd (%rax), %xmm0; addsd %xmm1, %xmm0", 0.5),
        ("xorpd %xmm0, %xmm0; divsd %xmm1, %xmm0", 4),
        # Through memory: a floating-point sum 5 + 2, an integer counter only 1.
        ("movsd (%rax), %xmm0; addsd %xmm1, %xmm0; movsd %xmm0, (%rax)", 7),
        ("addq $1, (%rax)", 1),
        # A conditional move waits for the comparison before it; nothing waits for a jump.
        ("comisd %xmm1, %xmm0; cmovbe %rcx, %rdx; leaq (%rdx), %rdx", 2),
        ("addq $1, %rax; cmpq %rdx, %rax; jne .L3", 1),
        ("movq (%rax), %rax", 5),
    ],
)  # fmt: skip
def test_an_iteration_takes(text: str, expected: float) -> None:
    assert cycles(text) == pytest.approx(expected, rel=0.02)


def test_few_instructions_in_flight_do_not_overlap() -> None:
    chain = "xorpd %xmm0, %xmm0; " + "; ".join(["addsd %xmm1, %xmm0"] * 10)
    assert cycles(chain) == pytest.approx(5, rel=0.05)  # two additions a cycle
    small = replace(PROCESSOR, scheduler_instructions=10)
    assert cycles(chain, small) > 6
    assert cycles(chain, replace(PROCESSOR, reorder_buffer_instructions=11)) == pytest.approx(
        10, rel=0.05
    )


def test_a_taken_branch_ends_an_issue_group() -> None:
    branching = replace(
        PROCESSOR,
        operations=(*PROCESSOR.operations, ProcessorOperation(name="taken_branch", per_cycle=0.5)),
    )
    assert cycles("nop; jmp .L3", branching) == pytest.approx(2, rel=0.02)


def test_a_move_is_eliminated() -> None:
    # An addition can use the result of another after 2 cycles, through a move as well.
    add = ProcessorOperation(name="add", per_cycle=2, latency_cycles=2, latency_to_others_cycles=3)
    rest_of_operations = tuple(
        operation for operation in PROCESSOR.operations if operation.name != "add"
    )
    slow = replace(PROCESSOR, operations=(add, *rest_of_operations))
    body = "movapd %xmm0, %xmm3; addsd %xmm1, %xmm3; movapd %xmm3, %xmm0"
    assert cycles(body, slow) == pytest.approx(2, rel=0.02)
    assert cycles(f"{body}; mulsd %xmm1, %xmm0", slow) == pytest.approx(6, rel=0.02)


@pytest.mark.parametrize(
    ("kind", "pair"),
    [
        ("move", "movapd %xmm0, %xmm2; subsd %xmm1, %xmm2"),
        ("integer_move", "movq %rax, %rcx; subq %rdx, %rcx"),
        ("integer_load", "movq (%rax), %rcx; addq $1, %rcx"),
    ],
)
def test_some_pairs_are_fused(kind: Pair, pair: str) -> None:
    body = f"{pair}; nop; nop; nop"
    assert cycles(body) == pytest.approx(1.25, rel=0.02)
    assert cycles(body, replace(PROCESSOR, fused_pairs=(kind,))) == pytest.approx(1, rel=0.02)
    apart = body.replace("; ", "; nop; ", 1)
    assert cycles(apart, replace(PROCESSOR, fused_pairs=(kind,))) == pytest.approx(1.5, rel=0.02)


def test_additions_leave_shared_slots_to_multiplications() -> None:
    shared_cycles = {"add": 1 / 3, "multiply": 1 / 3}
    arithmetic = Unit(name="arithmetic", kind="floating_point", cycles=shared_cycles)
    wide = replace(PROCESSOR, issue_per_cycle=6, units=(arithmetic,))
    # Two adds for each mul: two of three slots are for adds in every cycle.
    term = "vsubsd %xmm1, %xmm1, %xmm4; vmulsd %xmm4, %xmm1, %xmm5; vaddsd %xmm5, %xmm2, %xmm2"
    body = ["vxorpd %xmm2, %xmm2, %xmm2", *[term] * 6]
    assert cycles("; ".join(body), wide) == pytest.approx(6, rel=0.02)


@pytest.mark.parametrize(("halves_per_cycle", "expected"), [(2, 1.5), (1, 2)])
def test_an_access_that_crosses_a_line_is_two(halves_per_cycle: float, expected: float) -> None:
    wide = (
        ProcessorOperation(name="load", lanes=4, per_cycle=halves_per_cycle),
        ProcessorOperation(name="load", lanes=8, per_cycle=1),
    )
    vector_processor = replace(PROCESSOR, operations=(*PROCESSOR.operations, *wide))
    load = "vmovupd (%rax), %zmm0"
    assert cycles(load, vector_processor) == pytest.approx(1, rel=0.02)
    assert cycles(load, vector_processor, first_byte=8) == pytest.approx(expected, rel=0.02)


def quicker(*slower_loads: ProcessorOperation) -> Processor:
    """PROCESSOR with three loads in a cycle, of which two may be of floating-point numbers."""
    loads = {"load": 1 / 3, "integer_load": 1 / 3}
    integer_load = ProcessorOperation(name="integer_load", per_cycle=3)
    unit = Unit(name="loads", kind="memory", cycles=loads)
    operations = (*PROCESSOR.operations, integer_load, *slower_loads)
    return replace(PROCESSOR, issue_per_cycle=8, operations=operations, units=(unit,))


def test_integer_loads_run_beside_floating_point_loads() -> None:
    integer_load, floating_point_load = "movq (%rax), %rcx", "movsd (%rax), %xmm0"
    assert cycles("; ".join([integer_load] * 6), quicker()) == pytest.approx(2, rel=0.02)
    assert cycles("; ".join([floating_point_load] * 6), quicker()) == pytest.approx(3, rel=0.02)
    assert cycles("; ".join([integer_load, floating_point_load] * 3), quicker()) == pytest.approx(
        2, rel=0.02
    )


@pytest.mark.parametrize(
    ("store", "expected"),
    [("movq %rdx, (%rax)", 4 / 2), ("addq $1, (%rax)", 5 / 1.25)],
)
def test_forwarded_loads_have_their_own_rate(store: str, expected: float) -> None:
    slower = (
        ProcessorOperation(name="forwarded_load", per_cycle=2),
        ProcessorOperation(name="updated_load", per_cycle=1.25),
    )
    body = "; ".join([store, *["movq (%rax), %rcx"] * 4])
    assert cycles(body, quicker(*slower)) == pytest.approx(expected, rel=0.02)
    assert cycles(body, quicker()) < expected
    # A rate that is hardly lower than that of other loads counts as equal.
    alike = ProcessorOperation(name="forwarded_load", per_cycle=2.9)
    assert quicker(alike).forwarded_cycles("forwarded_load") == 0


def test_lines_of_the_next_cache_take_longer() -> None:
    caches = (
        Cache(level=1, size_bytes=1024, line_bytes=64, ways=4, hit_cycles=5),
        Cache(level=2, size_bytes=1 << 20, line_bytes=64, hit_cycles=15, load_line_cycles=3),
    )
    with_caches = replace(PROCESSOR, caches=caches)
    assert cycles("movsd (%rax), %xmm0", with_caches, 64) == pytest.approx(3, rel=0.05)
    assert cycles("movsd (%rax), %xmm0", with_caches) == pytest.approx(0.5, rel=0.05)
    instructions = decoded([instruction("movsd (%rax), %xmm0")], with_caches)
    trace = with_misses(
        [Executed(0, ADDRESS), Executed(0, ADDRESS + 60)], instructions, with_caches
    )
    assert [executed.missed for executed in trace] == [0, 0]


def test_a_listing_records_itself() -> None:
    lines = recording(".L3:\n\t.loc 1 3 5\n\tmovsd\t8(%rsp,%rax,8), %xmm0\n\tjne\t.L3\n")
    assert "leaq 8+256(%rsp,%rax,8), %rax" in lines
    assert lines.count("movq %rcx, nhalf_trace_next(%rip)") == 2
    assert lines.endswith("\tjne\t.L3\n")
    # Nothing that changes flags stands between a comparison and its jump.
    assert not {"add", "sub", "cmp", "xor"} & {word[:3] for word in lines.split()}
    two = "f:\n\tnop\n.L3:\n\tnop\nf.part.0:\n\tnop\ng:\n\tnop\n"
    assert recording(two).count("leaq 16") == 4
    assert recording(two, {"f"}).count("leaq 16") == 3
    content = (7).to_bytes(8, "little") + (64).to_bytes(8, "little")
    assert list(executed(content)) == [Executed(7, 64)]
