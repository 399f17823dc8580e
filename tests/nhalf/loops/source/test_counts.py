"""Essential operations of loops of a few statements, counted by hand."""

from __future__ import annotations

import platform
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from nhalf.loops.source.program import ReadingOptions
from tests.nhalf.loops.source.reading import (
    each,
    loop,
    loops,
    memory,
    on_power2,
    operations,
    program,
)

ARITHMETIC = {  # add, mul, fused multiply-add, div, sqrt
    "x[k] = y[k];": (0, 0, 0, 0, 0),
    "x[k] = -y[k];": (0, 0, 0, 0, 0),
    "x[k] = y[k] + z[k];": (1, 0, 0, 0, 0),
    "x[k] = y[k] * z[k];": (0, 1, 0, 0, 0),
    "x[k] = y[k] / z[k];": (0, 0, 0, 1, 0),
    "x[k] = sqrt(y[k]);": (0, 0, 0, 0, 1),
    "x[k] = fma(y[k], z[k], s);": (0, 0, 1, 0, 0),
    "x[k] = fabs(y[k]);": (0, 0, 0, 0, 0),
    "x[k] = s * y[k] + t;": (0, 0, 1, 0, 0),
    "x[k] = s * y[k] + t * z[k];": (0, 1, 1, 0, 0),
    "x[k] = y[k] - s * z[k];": (0, 0, 1, 0, 0),
    "x[k] = -(s * y[k]) + t;": (0, 0, 1, 0, 0),
    "x[k] = s * y[k] + t * z[k] + y[k + 1];": (0, 0, 2, 0, 0),
    "x[k] = s * (y[k] + z[k]);": (1, 1, 0, 0, 0),
    # What never changes is computed before the loop.
    "x[k] = s * t * y[k];": (0, 1, 0, 0, 0),
    "x[k] = y[k] * (s / t);": (0, 1, 0, 0, 0),
    # Equal expressions are computed once.
    "x[k] = (y[k] + s) * (y[k] + s);": (1, 1, 0, 0, 0),
    # A product that every sum can take in is computed in each.
    "double p = y[k] * z[k]; x[k] = p + s; y[k] = p + t;": (0, 0, 2, 0, 0),
    "double p = y[k] * z[k]; x[k] = p + s; y[k] = t - p; z[k] = p - t;": (0, 0, 2, 0, 0),
    "x[k] = s * (y[k] - 2.0 * z[k]) + t * (y[k + 1] - 2.0 * z[k]);": (0, 1, 3, 0, 0),
    # One that is stored is there already, and one of two sums of nothing else begins each.
    "double p = y[k] * z[k]; x[k] = p + s; y[k] = p;": (1, 1, 0, 0, 0),
    "double p = s * y[k]; x[k] = p + t * z[k]; y[k] = p - s * z[k];": (0, 1, 2, 0, 0),
    "double p = s * y[k], q = t * y[k]; x[k] = p + z[k] * z[k]; y[k] = q + t * z[k];": (
        *(0, 2, 2, 0, 0),
    ),
    # Products are regrouped: invariant factors are one, and powers take the fewest.
    "x[k] = s * y[k] * t;": (0, 1, 0, 0, 0),
    "x[k] = (s * y[k]) * (t * z[k]);": (0, 2, 0, 0, 0),
    "x[k] = y[k] * y[k] * y[k] * y[k];": (0, 2, 0, 0, 0),
    "x[k] = 1.0 * y[k] + 0.0;": (0, 0, 0, 0, 0),
    "x[k] = y[k] * z[k] * s; z[k] = z[k] * t * y[k];": (0, 3, 0, 0, 0),
    # An inverse of an invariant is computed before the loop, one of a divisor once.
    "x[k] = y[k] / s;": (0, 1, 0, 0, 0),
    "x[k] = y[k] / 4.0 + z[k];": (0, 0, 1, 0, 0),
    "x[k] = y[k] / s / z[k];": (0, 1, 0, 1, 0),
    "x[k] = y[k] / z[k] / y[k + 1];": (0, 1, 0, 1, 0),
    "double p = z[k]; x[k] = y[k] / p; z[k] = y[k + 1] / p;": (0, 1, 0, 1, 0),
    # Terms that are equal, or cancel, are one or none.
    "x[k] = y[k] + z[k] + y[k];": (0, 0, 1, 0, 0),
    "x[k] = (y[k] + z[k]) - z[k];": (0, 0, 0, 0, 0),
    "x[k] = y[k] + z[k] + s; z[k] = t + z[k] + y[k];": (3, 0, 0, 0, 0),
    "x[k] = y[k] + z[k]; y[k] = z[k] + y[k];": (1, 0, 0, 0, 0),
    # What nothing uses, or only some iterations, is not essential.
    "double p = y[k] * z[k]; x[k] = s;": (0, 0, 0, 0, 0),
    "double p = y[k] * z[k]; if (y[k] > s) x[k] = p;": (0, 0, 0, 0, 0),
    "x[k] = y[k] * z[k]; x[k] = y[k] + z[k];": (1, 0, 0, 0, 0),
    "double p = y[k] * z[k]; x[k] = p + s;": (0, 0, 1, 0, 0),
    "x[k] = y[k]; x[k] += z[k]; x[k] *= s;": (1, 1, 0, 0, 0),
    "s += y[k] * z[k];": (0, 0, 1, 0, 0),
    "x[k] = k * s;": (0, 1, 0, 0, 0),
    "x[k] = (double)ix[k] * s;": (0, 1, 0, 0, 0),
    "ix[k] = ix[k] * n + m;": (0, 0, 0, 0, 0),
    # Operations that only some iterations execute are not essential.
    "if (y[k] > s) x[k] = y[k] * s;": (0, 0, 0, 0, 0),
    "x[k] = y[k] > s ? y[k] * s : z[k];": (0, 0, 0, 0, 0),
}
MEMORY = {  # loads, stores
    "x[k] = 1.0;": (0, 1),
    "x[k] = y[k];": (1, 1),
    "x[k] = y[k] + y[k + 1];": (1, 1),
    "x[k] = y[k + 11] - y[k - 10];": (1, 1),
    "x[k] = y[2 * k] + y[2 * k + 1];": (2, 1),
    "x[k] = y[2 * k] + y[2 * k + 2] + y[2 * k + 1];": (2, 1),
    "x[k] = y[n - k] + y[n - k - 1];": (1, 1),
    "x[k] += s;": (1, 1),
    "x[k] = x[k - 1] + y[k];": (1, 1),
    "x[k] = x[k + 1] + s;": (1, 1),
    "x[k] = s; y[k] = x[k];": (0, 2),
    "x[k] = s; x[k + 1] = t;": (0, 1),
    "s += x[m];": (0, 0),
    "x[m] += y[k];": (1, 0),
    "a[k][0] = a[k][1];": (1, 1),
    "a[0][k] = a[1][k];": (1, 1),
    "a[k][m] = a[k - 1][m];": (0, 1),
    "s += a[k][k] + a[k + 1][k + 1];": (1, 0),
    "s += a[k][k] + a[k + 1][k];": (2, 0),
    "s += x[k] + x[k + m];": (2, 0),
    "s += y[k * m + 1] + y[k * m];": (2, 0),
    "s += y[k * m] + y[(k - 1) * m];": (1, 0),
    "x[k] = y[ix[k]];": (2, 1),
    "x[k] = y[ix[k]] + y[ix[k]];": (2, 1),
    "y[ix[k]] += x[k];": (3, 1),
    "int i = 3 * k; x[i] = y[i];": (1, 1),
    "f[k] = f[k] * 2.0f;": (1, 1),
    "double *p = &a[m][0]; p[k] = s;": (0, 1),
    "double *p = x + k; p[0] = p[1];": (1, 1),
    "if (y[k] > s) x[k] = z[k];": (1, 0),
    "if (y[k] > y[m]) m = k;": (1, 0),
}
CHAINS = {  # cycles of POWER2 per iteration
    "x[k] = y[k] * z[k] + s;": 0.0,
    "s += y[k];": 1.0,
    "s = s * y[k];": 1.0,
    "s += y[k] * z[k];": 2.0,
    "s = s * y[k] + z[k];": 2.0,
    "s = sqrt(s + y[k]);": 28.0,
    "s = y[k] / s;": 17.0,
    "s += y[k]; s += z[k];": 1.0,
    "x[k] = x[k - 1] * y[k];": 1.0,
    "x[k] = x[k - 2] * y[k] + z[k];": 1.0,
    "x[k] = x[k + 1] * y[k];": 0.0,
    "x[k] = z[k] * (y[k] - x[k - 1]);": 2.0,
    "x[m] += y[k];": 1.0,
    "double p = s; s = t * y[k]; t = p + z[k];": 1.0,
    "s = y[k]; t += s;": 1.0,
}


@pytest.mark.sampled(16)
@pytest.mark.parametrize("statement", ARITHMETIC)
def test_arithmetic(statement: str) -> None:
    assert operations(each(statement)) == ARITHMETIC[statement]


@pytest.mark.parametrize("statement", MEMORY)
def test_loads_and_stores(statement: str) -> None:
    assert memory(each(statement)) == MEMORY[statement]


@pytest.mark.parametrize("statement", CHAINS)
def test_chains(statement: str) -> None:
    bound = on_power2(each(statement))
    assert (bound.in_order or bound).dependence_cycles == pytest.approx(CHAINS[statement])


@pytest.mark.parametrize(
    ("statement", "is_reduction"),
    [
        ("s += y[k];", True),
        ("s = y[k] + s;", True),
        ("s -= y[k] * z[k];", True),
        ("s += y[k]; s += z[k];", True),
        ("s = (y[k] - z[k]) + (s - x[k]);", True),
        ("s = s * y[k];", True),
        ("x[m] += y[k];", True),
        ("s += y[k]; t += y[k] * z[k];", True),
        ("s = y[k] - s;", False),
        ("s = s * y[k] + z[k];", False),
        ("s = y[k] / s;", False),
        ("s += s;", False),
        ("s += y[k]; x[k] = s;", False),
        ("x[k] = s; s += y[k];", False),
        ("x[k] = x[k - 1] + y[k];", False),
        ("x[k] = x[k - 2] * y[k];", False),
        ("s = sqrt(s + y[k]);", False),
    ],
)
def test_only_sums_of_which_nothing_but_the_last_value_is_used_are_regrouped(
    statement: str, is_reduction: bool
) -> None:
    bound = on_power2(each(statement))
    assert (bound.in_order is not None) == is_reduction
    assert (bound.dependence_cycles == 0) == is_reduction
    if bound.in_order:
        assert bound.cycles <= bound.in_order.cycles


def test_a_sum_beside_a_recurrence_leaves_the_recurrence() -> None:
    bound = on_power2(each("x[k] = x[k - 1] * y[k] + z[k]; s += x[k] / y[k];"))
    assert bound.dependence_cycles == 2.0
    assert bound.in_order is None
    bound = on_power2(each("x[k] = x[k - 1] + z[k]; s += y[k] * z[k];"))
    assert bound.in_order is not None
    assert (bound.dependence_cycles, bound.in_order.dependence_cycles) == (1.0, 2.0)


LOOPS = [
    "for (k = 0; k < n; k++) {}",
    "for (k = 0; k < n; k += 3) {}",
    "for (k = n; k > 0; --k) {}",
    "for (k = 0; k != n; k += 1) {}",
    "k = 0; while (k < n) {{} k++; }",
    "k = n; while (k--) {}",
    "k = 0; do {{} k++; } while (k < n);",
    "for (k = 0, s = 1.0; k < n; k++) {}",
]


@pytest.mark.parametrize("written", LOOPS)
def test_loops_of_any_form_are_the_same(written: str) -> None:
    counts = loop("int k; " + written.replace("{}", "{ x[k] = s * y[k] + z[k]; }"))
    assert operations(counts) == (0, 0, 1, 0, 0)
    assert memory(counts) == (2, 1)


def test_pointers_that_walk_are_streams() -> None:
    counts = loop("double *p = x, *q = y; for (int k = 0; k < n; k++) *p++ = *q++ * s;")
    assert memory(counts) == (1, 1)
    assert operations(counts) == (0, 1, 0, 0, 0)
    counts = loop("double *p = x; while (p < x + n) { *p = p[-1] + s; p++; }")
    assert memory(counts) == (0, 1)
    assert on_power2(counts).dependence_cycles == 1.0


def test_inner_loops_are_read_each_with_what_is_known_before_it() -> None:
    nested = "for (int i = 0; i < n; i++) { int l = i - 1; for (int k = 0; k < n; k++) %s }"
    counts = loop(nested % "{ a[i][k] = a[l][k] + s; l++; }")
    assert memory(counts) == (1, 1)
    counts = loop(nested % "a[i][k] = a[i][k - 1] * a[l][k];")
    assert memory(counts) == (1, 1)
    two_loops = loops("for (int k = 0; k < n; k++) x[k] = s; if (m) { while (n--) t += s; }")
    assert [memory(counts) for counts in two_loops] == [(0, 1), (0, 0)]


def test_numbers_that_are_given_or_known_decide() -> None:
    body = "for (int k = 0; k < n; k++) x[k] = x[k - m] + y[k];"
    assert on_power2(loop(body, ReadingOptions(numbers={"m": 1}))).dependence_cycles == 1.0
    assert on_power2(loop(body, ReadingOptions(numbers={"m": 4}))).dependence_cycles == 0.25
    assert on_power2(loop(f"m = 2; {body}")).dependence_cycles == 0.5
    text = f"enum {{ A = 2, B }}; double x[9], y[9]; void f(int n) {{ {body.replace('m', 'B')} }}"
    assert on_power2(program(text).loops[0]).dependence_cycles == pytest.approx(1 / 3)


@pytest.mark.parametrize(
    ("header", "trips"),
    [
        ("k = 0; k < 10; k++", 10),
        ("k = 1; k <= 10; k++", 10),
        ("k = 0; k < 10; k += 3", 4),
        ("k = 0; k <= 9; k += 3", 4),
        ("k = 10; k > 0; k--", 10),
        ("k = 10; k >= 0; k--", 11),
        ("k = 0; k < n; k++", None),
        ("k = 0; k != 10; k++", None),
    ],
)
def test_how_often_a_loop_runs(header: str, trips: int | None) -> None:
    assert loop(f"int k; for ({header}) x[k] = s;").trips == trips


SAMPLE = st.lists(st.integers(-20, 20), min_size=1, max_size=6, unique=True)


@settings(deadline=None, max_examples=30)
@given(SAMPLE, st.integers(1, 5))
def test_offsets_are_as_many_streams_as_they_leave_remainders(
    offsets: list[int], stride: int
) -> None:
    read = " + ".join(f"x[{stride} * k + ({offset})]" for offset in offsets)
    counts = each(f"y[k] = {read};")
    assert counts.loads == len({offset % stride for offset in offsets})
    assert counts.of("add") == len(offsets) - 1


@settings(deadline=None, max_examples=30)
@given(SAMPLE)
def test_an_element_is_loaded_where_its_first_use_reads_it(offsets: list[int]) -> None:
    reads = " + ".join(f"x[k + ({offset})]" for offset in offsets)
    counts = each(f"x[k] = {reads};")
    assert memory(counts) == (int(max(offsets) >= 0), 1)


@settings(deadline=None, max_examples=30)
@given(st.permutations(["s * y[k]", "t * z[k]", "y[k + 1]", "s * x[k]"]))
def test_the_order_of_a_sum_changes_nothing(terms: list[str]) -> None:
    assert operations(each(f"a[m][k] = {' + '.join(terms)};")) == (0, 0, 3, 0, 0)


def test_without_multiply_adds_a_shared_product_is_computed_once() -> None:
    counts = each("double p = y[k] * z[k]; x[k] = p + s; y[k] = p + t;")
    unfused = counts.operations.unfused
    assert (unfused["multiply"], unfused["add"], unfused["fused_multiply_add"]) == (1, 2, 0)


def test_many_shared_products_are_bounded_in_a_moment() -> None:
    products = [f"double p{i} = y[k + {i}] * z[k - {i}];" for i in range(14)]
    stores = [f"x[k + {1000 * i}] = p{i} + p{(i + 1) % 14};" for i in range(14)]
    counts = loop(f"for (int k = 20; k < 900; k++) {{ {' '.join(products + stores)} }}")
    assert operations(counts) == (0, 7, 14, 0, 0)


COMPILED = (
    "x[k] = s * (y[k + 1] - 2.0 * y[k] + y[k - 1]) + t * (z[k + 1] - 2.0 * y[k] + z[k - 1]);",
    "double p = y[k] * z[k]; x[k] = p + s; z[k] = p * p - t;",
    "x[k] = s * y[k] * t * z[k]; z[k] = t * z[k] * y[k];",
    "double p = z[k]; x[k] = y[k] / p + s / p; z[k] = y[k] / 2.0 + p;",
    "double p = s * y[k], q = t * z[k]; x[k] = p + q; z[k] = p - q;",
    "x[k] = (y[k] + z[k]) * (y[k] - z[k]) + y[k] * y[k];",
    "x[k] = 0.5 * (y[k - 1] + y[k + 1]) - 0.25 * (z[k - 1] + z[k + 1]) + y[k] * 0.5;",
)


@pytest.mark.skipif(
    shutil.which("gcc") is None or platform.machine() != "x86_64", reason="reads gcc's x86-64"
)
@pytest.mark.parametrize("options", [("-O2",), ("-O3", "-ffast-math")])
def test_no_compiler_needs_fewer_operations(options: tuple[str, ...], tmp_path: Path) -> None:
    for statements in COMPILED:
        loop_text = f"for (int k = 1; k < n; k++) {{ {statements} }}"
        text = (
            "void work(int n, double s, double t, double *restrict x,"
            f" const double *restrict y, double *restrict z) {{ {loop_text} }}\n"
        )
        (counts,) = program(text).loops
        path = tmp_path / "loop.c"
        path.write_text(text, "utf-8")
        shape = ("-march=haswell", "-fno-tree-vectorize", "-fno-unroll-loops", "-S", "-o", "-")
        listing = subprocess.run(
            ["gcc", *options, *shape, str(path)], check=True, capture_output=True, text=True
        ).stdout
        body = re.search(r"^(\.L\d+):\n((?:(?!^\.L).*\n)*?)\tj\w+\t\1$", listing, re.MULTILINE)
        assert body is not None
        compiled = re.findall(r"\tv(?:add|sub|mul|div|fn?m(?:add|sub))\w*sd\t", body[2])
        assert sum(counts.operations.fused.values()) <= len(compiled), statements
