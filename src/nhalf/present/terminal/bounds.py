# SPDX-License-Identifier: Apache-2.0
"""Bounds of loops as a table, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nhalf.machines.processor import Processor
from nhalf.node.bound.bounds import Bound
from nhalf.node.bound.refusal import Refused
from nhalf.present.terminal.ladders import ladder_json

if TYPE_CHECKING:
    from rich.console import Console

    from nhalf.node.ladder.of_file import Ladders

UNITS = {
    "fp": "floating point",
    "mem": "memory",
    "issue": "issue",
    "dep": "dependence",
    "fixed": "fixed point",
}
"""What the short names of units stand for."""
COLUMNS = (
    *("loop", "add", "mul", "fma", "div", "sqrt", "loads", "stores"),
    *("t_fp", "t_mem", "t_issue", "t_dep", "cycles", "CPF", "MFLOPS", "limit"),
)


def bounds_json(
    file: Path,
    processor: Processor,
    bounds: Sequence[Bound],
    refusals: Sequence[Refused],
    ladders: Ladders | None = None,
) -> dict[str, Any]:
    """One object: the loops that were read, and those that were not.

    With `ladders`, each loop has what compilers make of it.
    """
    return {
        "file": str(file),
        "machine": processor.name,
        "loops": [{**loop_json(one), **ladder_json(one, ladders)} for one in bounds],
        "refused": [{"line": one.line, "reason": str(one)} for one in refusals],
    }


def loop_json(one: Bound) -> dict[str, Any]:
    """A loop as scripts read it: cycles per iteration, `mflops` in 10^6 operations a second."""
    counts = one.counts
    return {
        "function": counts.function,
        "line": counts.line,
        "f_add": counts.of("add"),
        "f_mul": counts.of("multiply"),
        "f_fma": counts.of("fused_multiply_add"),
        "f_div": counts.of("divide"),
        "f_sqrt": counts.of("square_root"),
        "loads": counts.loads,
        "stores": counts.stores,
        "t_fp": one.floating_point_cycles,
        "t_mem": one.memory_cycles,
        "t_issue": one.issue_cycles,
        "t_dep": one.dependence_cycles,
        "cycles": one.cycles,
        "cpf": one.cycles_per_flop,
        "mflops": one.flops_per_s / 1e6,
        "limit": one.limits[0],
    }


def show_bounds(console: Console, processor: Processor, bounds: Sequence[Bound]) -> None:
    """Print a table, a line for each loop."""
    from rich.table import Table

    title = f"{processor.title or processor.name}: per iteration, times in cycles"
    table = Table(title=title, title_justify="left", box=None, pad_edge=False)
    for number, name in enumerate(COLUMNS):
        table.add_column(name, justify="right" if 0 < number < len(COLUMNS) - 1 else "left")
    for one in bounds:
        table.add_row(*_cells(one))
    console.print(table)


def _cells(one: Bound) -> list[str]:
    known = loop_json(one)
    counts = [known[key] for key in ("f_add", "f_mul", "f_fma", "f_div", "f_sqrt")]
    times = [known[key] for key in ("t_fp", "t_mem", "t_issue", "t_dep", "cycles")]
    cpf = "–" if known["cpf"] is None else f"{known['cpf']:.3f}"
    limits = [UNITS[name] for name in one.limits if name != "fixed" or one.limits == ("fixed",)]
    return [
        f"{known['function']}:{known['line']}",
        *(str(count or "") for count in (*counts, known["loads"], known["stores"])),
        *(f"{time:.2f}" for time in times),
        *(cpf, f"{known['mflops']:.0f}", ", ".join(limits)),
    ]
