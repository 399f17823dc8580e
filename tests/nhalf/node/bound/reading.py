# SPDX-License-Identifier: Apache-2.0
"""C as tests write it: the body of a function on a few arrays, as the reader sees it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from nhalf.machines.processor_file import processor
from nhalf.node.bound.bounds import Bound, bound
from nhalf.node.bound.counts import Counts
from nhalf.node.bound.program import Program, Reading, read_program

DECLARED = """double x[1000], y[1000], z[1000], a[100][100], s, t; float f[1000]; int ix[1000];
void work(int n, int m) {
"""


def program(text: str, reading: Reading | None = None) -> Program:
    """The loops of a whole file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "source.c")
        path.write_text(text, "utf-8")
        return read_program(path, reading)


def loops(body: str, reading: Reading | None = None) -> list[Counts]:
    """The loops of a function's body; raises the first refusal."""
    found = program(f"{DECLARED}{body}\n}}\n", reading)
    if found.refusals:
        raise found.refusals[0]
    return found.loops


def loop(body: str, reading: Reading | None = None) -> Counts:
    """The only loop of a function's body."""
    (found,) = loops(body, reading)
    return found


def each(statement: str) -> Counts:
    """A loop over k of one statement."""
    return loop(f"for (int k = 1; k < n; k++) {{ {statement} }}")


def on_power2(counts: Counts) -> Bound:
    """Its bound on POWER2."""
    return bound(counts, processor("power2"))


def operations(counts: Counts) -> tuple[int, int, int, int, int]:
    """How often it adds, multiplies, does both at once, divides, and takes square roots."""
    names = ("add", "multiply", "fused_multiply_add", "divide", "square_root")
    add, multiply, fused, divide, root = (counts.of(name) for name in names)
    return add, multiply, fused, divide, root


def memory(counts: Counts) -> tuple[int, int]:
    """Loads and stores."""
    return counts.loads, counts.stores
