"""C loops for tests: the body of a function on a few arrays, as the reader sees it."""

from __future__ import annotations

import tempfile
from pathlib import Path

from nhalf.loops.source.counts import LoopCounts
from nhalf.loops.source.ma_bounds import Bound, bound
from nhalf.loops.source.program import ReadingOptions, SourceProgram, read_program
from nhalf.machines.processor_file import processor

DECLARED = """double x[1000], y[1000], z[1000], a[100][100], s, t; float f[1000]; int ix[1000];
void work(int n, int m) {
"""


def program(text: str, reading: ReadingOptions | None = None) -> SourceProgram:
    """The loops of a whole file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "source.c")
        path.write_text(text, "utf-8")
        return read_program(path, reading)


def loops(body: str, reading: ReadingOptions | None = None) -> list[LoopCounts]:
    """The loops of a function's body; raises the first refusal."""
    source = program(f"{DECLARED}{body}\n}}\n", reading)
    if source.refusals:
        raise source.refusals[0]
    return source.loops


def loop(body: str, reading: ReadingOptions | None = None) -> LoopCounts:
    """The only loop of a function's body."""
    (counts,) = loops(body, reading)
    return counts


def each(statement: str) -> LoopCounts:
    """A loop over k of one statement."""
    return loop(f"for (int k = 1; k < n; k++) {{ {statement} }}")


def on_power2(counts: LoopCounts) -> Bound:
    """The bound of a loop on POWER2."""
    return bound(counts, processor("power2"))


def operations(counts: LoopCounts) -> tuple[int, int, int, int, int]:
    """Counts of add, mul, fused multiply-add, div and sqrt."""
    names = ("add", "multiply", "fused_multiply_add", "divide", "square_root")
    add, multiply, fused, divide, root = (counts.of(name) for name in names)
    return add, multiply, fused, divide, root


def memory(counts: LoopCounts) -> tuple[int, int]:
    """Counts of loads and stores."""
    return counts.loads, counts.stores
