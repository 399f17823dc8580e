"""What loops leave in the cache for the next ones: 64 KiB in lines of 64 bytes, 4 ways."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from nhalf.loops.program.events import Computed
from nhalf.loops.program.ranks import MpiProgram
from nhalf.loops.source.misses import CacheState, Misses
from nhalf.loops.source.preprocessed import HeaderSearch
from nhalf.machines.processor_file import processor

LINE = 1 / 8
"""New lines of doubles for each iteration."""
Run = Callable[[str], list[Misses]]


@pytest.fixture
def misses_of(tmp_path: Path) -> Run:
    def run(body: str) -> list[Misses]:
        path = tmp_path / "loops.c"
        path.write_text(
            f"""#include <mpi.h>
            #include <stdlib.h>
            double a[2000], b[2000], big[100000], m[40][40];
            static void scale(double *x, int n) {{ for (int i = 0; i < n; i++) x[i] *= 0.5; }}
            int main(void) {{ double s = 0; {body} }}""",
            "utf-8",
        )
        state = CacheState(processor("power2").caches[0])
        (own,) = MpiProgram(path, HeaderSearch(), []).ranks({}, 1)
        loops = [event for event in own.events if isinstance(event, Computed)]
        return [
            state.run(one.loop.counts.streams, dict(one.arrays), one.nest, one.iterations)
            for one in loops
        ]

    return run


SUM = "for (int i = 0; i < 2000; i++) s += a[i];"
CLEAR = "for (int i = 0; i < 2000; i++) b[i] = 0;"
SWEEP = "for (int i = 0; i < 100000; i++) s += big[i];"


def test_what_a_loop_read_is_there_for_the_next_one(misses_of: Run) -> None:
    assert misses_of(SUM + SUM) == [Misses(LINE, 0), Misses(0, 0)]
    assert misses_of(SUM + CLEAR + SUM) == [Misses(LINE, 0), Misses(0, LINE), Misses(0, 0)]


def test_what_does_not_fit_pushes_out_the_rest_and_itself(misses_of: Run) -> None:
    assert misses_of(SUM + SWEEP + SUM + SWEEP)[1:] == [Misses(LINE, 0)] * 3


def test_lines_of_a_modified_array_miss_as_stores(misses_of: Run) -> None:
    both = "for (int i = 0; i < 2000; i++) b[i] = b[i] + a[i];"
    assert misses_of(both) == [Misses(LINE, LINE)]


def test_arrays_are_known_by_their_memory(misses_of: Run) -> None:
    assert misses_of(SUM + "scale(a, 2000); scale(b, 2000);")[1:] == [
        Misses(0, 0), Misses(0, LINE),
    ]  # fmt: skip
    first, second = "double *p = malloc(800), *q = malloc(800), *t;", "scale(p, 100); "
    swapped = misses_of(f"{first} {second} t = p; p = q; q = t; {second} scale(q, 100);")
    assert [one.stores_per_iteration for one in swapped] == [pytest.approx(LINE, rel=0.05)] * 2 + [
        0
    ]


def test_part_of_an_array_that_is_there_does_not_miss(misses_of: Run) -> None:
    half = "for (int i = 0; i < 1000; i++) s += a[i];"
    assert misses_of(half + SUM)[1] == Misses(LINE / 2, 0)


def test_rows_of_a_matrix_are_read_once(misses_of: Run) -> None:
    rows = "for (int i = 0; i < 40; i++) for (int j = 0; j < 40; j++) s += m[i][j];"
    columns = "for (int j = 0; j < 40; j++) for (int i = 0; i < 40; i++) s += m[i][j];"
    for order in (rows, columns):
        assert misses_of(order + order) == [Misses(LINE, 0), Misses(0, 0)]


def test_a_row_that_is_read_again_misses_once(misses_of: Run) -> None:
    again = "for (int k = 0; k < 10; k++) for (int i = 0; i < 2000; i++) s += a[i];"
    assert misses_of(again) == [Misses(LINE / 10, 0)]
    sweeps = "for (int k = 0; k < 10; k++) for (int i = 0; i < 100000; i++) s += big[i];"
    assert misses_of(sweeps) == [Misses(LINE, 0)]


def test_rows_are_there_while_they_fit_until_they_are_read_again(misses_of: Run) -> None:
    product = """for (int i = 0; i < N; i++) for (int k = 0; k < N; k++)
                 for (int j = 0; j < N; j++) big[i * N + j] += x[k * N + j];"""
    body = "double *x = malloc(80000);"
    (small,) = misses_of(body + product.replace("N", "40"))
    assert (small.loads_per_iteration, small.stores_per_iteration) == (LINE / 40, LINE / 40)
    (large,) = misses_of(body + product.replace("N", "200"))
    assert large.loads_per_iteration == pytest.approx(LINE, rel=0.01)
    assert large.stores_per_iteration == pytest.approx(LINE / 200, rel=0.01)


def test_the_bound_has_a_modified_array_miss_as_stores(
    tmp_path: Path, call: Callable[..., Any]
) -> None:
    path = tmp_path / "update.c"
    path.write_text(
        "void f(double *restrict a, const double *restrict b, int n)"
        "{ for (int i = 0; i < n; i++) a[i] = 2.0 * b[i] + a[i]; }",
        "utf-8",
    )
    words = ("bound", path, "--machine", "power2", "--set", "n=100000", "--json")
    (loop,) = json.loads(call(*words).out)["loops"]
    assert loop["cycles"] == pytest.approx((16.3 + 22.0) / 8)
