"""What loops take as they are written, on a core that executes out of order."""

from __future__ import annotations

import pytest

from nhalf.loops.source.compiled import BEGIN_CYCLES, CONTROL, RESTART_CYCLES, compiled_cycles
from nhalf.loops.source.misses import CacheState, Misses
from nhalf.machines.processor import Cache, Name, Processor, ProcessorOperation
from tests.nhalf.loops.source.reading import program

LATENCIES: dict[Name, tuple[float, float, float | None]] = {
    "add": (2, 2.0, 3.0),
    "multiply": (2, 4.0, None),
    "divide": (0.25, 14.0, None),
}
PROCESSOR = Processor(
    name="wide",
    clock_hz=1e9,
    issue_per_cycle=6,
    reorder_buffer_instructions=400,
    store_forward_cycles=5,
    operations=(
        *(
            ProcessorOperation(
                name=name,
                per_cycle=rate,
                latency_cycles=latency,
                latency_to_others_cycles=others,
            )
            for name, (rate, latency, others) in LATENCIES.items()
        ),
        ProcessorOperation(name="square_root", per_cycle=1 / 6, latency_cycles=18),
        ProcessorOperation(name="load", per_cycle=3),
        ProcessorOperation(name="load", lanes=8, per_cycle=3),
        ProcessorOperation(name="store", per_cycle=2),
        ProcessorOperation(name="taken_branch", per_cycle=1),
    ),
    caches=(
        Cache(level=1, size_bytes=49152, line_bytes=64, ways=12, load_miss_cycles=10),
        Cache(level=2, size_bytes=2**21, line_bytes=64, load_line_cycles=2, store_line_cycles=4),
    ),
)
HEAD = "void f(int n, double *restrict a, double *restrict b) {\n"


def cycles(body: str, trips: int = 1000, runs: int = 1) -> float:
    (loop,) = program(f"{HEAD}for (int i = 1; i < n; i++) {{ {body} }} }}").loops
    return compiled_cycles(loop, PROCESSOR, trips, trips * runs) - RESTART_CYCLES / trips


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a[i] = b[i - 1] + b[i] + b[i + 1];", (3 + 2 + 1 + CONTROL) / 6),
        ("a[i] = 1.0;", 1.0),  # a jump that is taken in each cycle
        ("a[i] = sqrt(b[i]) / b[i + 1];", 6 + 4),
        ("a[i] = a[i - 1] * 0.5 + b[i];", 4 + 3),
        ("a[i] = a[i - 1] + b[i];", 2),
        ("a[i] = a[i - 1] * 0.5; b[i] = 1.0;", 4 + 5),
        ("if (b[i] < 3.0) { a[i] = b[i] / 7.0; }", 2),
    ],
)
def test_operations_are_those_of_the_source(body: str, expected: float) -> None:
    assert cycles(body) == pytest.approx(expected)


def test_runs_overlap_where_a_core_holds_instructions_of_the_next() -> None:
    body = "a[i] = a[i - 1] * 0.5 + b[i];"
    run = 100 * (5 + CONTROL)
    assert cycles(body, 100, 1) == pytest.approx(7)
    assert cycles(body, 100, 9) == pytest.approx(7 * run / (run + 400))


def test_the_end_of_a_short_loop_is_foreseen() -> None:
    (loop,) = program(f"{HEAD}for (int i = 0; i < n; i++) a[i] = 1.0; }}").loops
    assert compiled_cycles(loop, PROCESSOR, 10, 500) == pytest.approx(1 + BEGIN_CYCLES / 10)
    assert compiled_cycles(loop, PROCESSOR, 100, 500) == pytest.approx(1 + RESTART_CYCLES / 100)


@pytest.mark.parametrize(("width", "is_scattered"), [(128, True), (136, False)])
def test_columns_of_a_width_that_is_a_power_of_two_conflict(width: int, is_scattered: bool) -> None:
    body = f"for (int i = 0; i < 128; i++) a[{width} * i + j] = 1.0;"
    text = f"void f(double *a, int j) {{ {body} }}"
    (loop,) = program(text).loops
    nest = [("", 128), ("j", 128)]
    found = CacheState(PROCESSOR.caches[0], has_conflicts=True).run(loop.streams, {}, nest, 128**2)
    assert found.scattered_stores_per_iteration == is_scattered
    assert found.stores_per_iteration == pytest.approx(1 if is_scattered else 1 / 8, rel=0.1)
    optimistic = CacheState(PROCESSOR.caches[0]).run(loop.streams, {}, nest, 128**2)
    assert optimistic.stores_per_iteration == pytest.approx(1 / 8, rel=0.1)
    assert isinstance(found, Misses)


def test_lines_of_a_structure_are_shared_by_its_members() -> None:
    body = "for (int i = 0; i < 800; i++) { a[4 * i] = 1.0; a[4 * i + 3] = 2.0; }"
    (loop,) = program(f"void f(double *a) {{ {body} }}").loops
    found = CacheState(PROCESSOR.caches[0]).run(loop.streams, {}, [("", 800)], 800)
    assert found.stores_per_iteration == pytest.approx(0.5)
