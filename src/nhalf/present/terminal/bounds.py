"""Bounds of loops as a table, and as JSON."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nhalf.base.numbers import fixed, whole
from nhalf.loops.source.ma_bounds import Bound
from nhalf.loops.source.reductions import REGROUPING
from nhalf.loops.source.refusal import RefusedSource
from nhalf.machines.processor import Processor
from nhalf.present.terminal.ladders import ladder_json
from nhalf.present.terminal.tables import add_literal

if TYPE_CHECKING:
    from rich.console import Console

    from nhalf.loops.file_ladders import Ladders

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
    refusals: Sequence[RefusedSource],
    ladders: Ladders | None = None,
) -> dict[str, Any]:
    """One object: the loops that were read, and those that were not.

    With `ladders`, each loop has what compilers make of it.
    """
    return {
        "file": str(file),
        "machine": processor.name,
        "loops": [{**loop_json(bound), **ladder_json(bound, ladders)} for bound in bounds],
        "refused": [{"line": refusal.line, "reason": str(refusal)} for refusal in refusals],
        "doubts": list(processor.doubts),
    }


def loop_json(bound: Bound) -> dict[str, Any]:
    """A loop as scripts read it: cycles per iteration, `mflops` in 10^6 operations a second."""
    counts = bound.counts
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
        "t_fp": bound.floating_point_cycles,
        "t_mem": bound.memory_cycles,
        "t_issue": bound.issue_cycles,
        **_headline(bound),
        "in_order": _headline(bound.in_order) if bound.in_order else None,
    }


def _headline(bound: Bound) -> dict[str, Any]:
    """The chain of a loop and its bound."""
    return {
        "t_dep": bound.dependence_cycles,
        "cycles": bound.cycles,
        "cpf": bound.cycles_per_flop,
        "mflops": bound.flops_per_s / 1e6,
        "limit": bound.limits[0],
    }


def show_bounds(console: Console, processor: Processor, bounds: Sequence[Bound]) -> None:
    """Print a table, a line for each loop, and the bounds of those whose order may be kept."""
    from rich.markup import escape
    from rich.table import Table

    title = f"{processor.title or processor.name}: per iteration, times in cycles"
    table = Table(title=escape(title), title_justify="left", box=None, pad_edge=False)
    for number, name in enumerate(COLUMNS):
        table.add_column(name, justify="right" if 0 < number < len(COLUMNS) - 1 else "left")
    for bound in bounds:
        add_literal(table, *_cells(bound))
    console.print(table)
    for bound in bounds:
        if bound.in_order:
            console.print(order_note(bound, bound.in_order), markup=False, soft_wrap=True)
    show_doubts(console, processor)


def show_doubts(console: Console, processor: Processor) -> None:
    """Print which measured rates are doubtful, and what bounds take them for."""
    for doubt in processor.doubts:
        console.print(f"doubtful: {doubt}", markup=False, soft_wrap=True, style="yellow")


def order_note(bound: Bound, in_order: Bound) -> str:
    """State what a loop takes whose sum or product keeps the order of the source."""
    cycles, chain_cycles, ordered_cycles = (
        fixed(number, 2) for number in (bound.cycles, in_order.dependence_cycles, in_order.cycles)
    )
    rate = f", {whole(in_order.flops_per_s / 1e6)} MFLOPS" if in_order.counts.flops else ""
    return (
        f"{bound.counts.function}:{bound.counts.line}: {cycles} cycles need partial "
        f"results that do not wait for each other: {REGROUPING}, or written so. In the order of "
        f"the source: t_dep {chain_cycles}, {ordered_cycles} cycles{rate}."
    )


def _cells(bound: Bound) -> list[str]:
    loop = loop_json(bound)
    counts = [loop[key] for key in ("f_add", "f_mul", "f_fma", "f_div", "f_sqrt")]
    times = [loop[key] for key in ("t_fp", "t_mem", "t_issue", "t_dep", "cycles")]
    cpf = "–" if loop["cpf"] is None else fixed(loop["cpf"], 3)
    limits = [UNITS[name] for name in bound.limits if name != "fixed" or bound.limits == ("fixed",)]
    return [
        f"{loop['function']}:{loop['line']}",
        *(str(count or "") for count in (*counts, loop["loads"], loop["stores"])),
        *(fixed(time, 2) for time in times),
        *(cpf, whole(loop["mflops"]), ", ".join(limits)),
    ]
