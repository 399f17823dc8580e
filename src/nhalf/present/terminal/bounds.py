"""Bounds of loops, their ladders and the Livermore kernels, as tables and as JSON."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from nhalf.base.numbers import fixed, percent, whole
from nhalf.loops.climb import Climb
from nhalf.loops.file_ladders import Ladders, LoopLadder
from nhalf.loops.livermore.table import Row, used
from nhalf.loops.source.ma_bounds import Bound
from nhalf.loops.source.refusal import RefusedSource
from nhalf.loops.source.sums import REGROUPING
from nhalf.machines.processor import Processor
from nhalf.present.terminal.output import print_lines
from nhalf.present.terminal.tables import add_literal, plain_table
from nhalf.present.wording import cell, known

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
RUNGS = ("MA", "MAC", "MACS", "measured")
GAP = "largest gap, and what helps"


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
    title = f"{processor.title or processor.name}: per iteration, times in cycles"
    table = plain_table(title, *COLUMNS, words=("loop", "limit"))
    for bound in bounds:
        add_literal(table, *_cells(bound))
    console.print(table)
    print_lines(console, *(order_note(bound, bound.in_order) for bound in bounds if bound.in_order))
    show_doubts(console, processor)


def show_doubts(console: Console, processor: Processor) -> None:
    """Print which measured rates are doubtful, and what bounds take them for."""
    lines = (f"doubtful: {doubt}" for doubt in processor.doubts)
    print_lines(console, *lines, style="yellow")


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
    limits = [UNITS[name] for name in bound.limits if name != "fixed" or bound.limits == ("fixed",)]
    return [
        f"{loop['function']}:{loop['line']}",
        *(str(count or "") for count in (*counts, loop["loads"], loop["stores"])),
        *(fixed(time, 2) for time in times),
        *(known(loop["cpf"], lambda cpf: fixed(cpf, 3)), whole(loop["mflops"]), ", ".join(limits)),
    ]


def ladder_json(bound: Bound, ladders: Ladders | None) -> dict[str, Any]:
    """List the rungs of a loop by build: cycles per iteration, null if unknown."""
    if ladders is None:
        return {}
    rows = [
        {
            "build": ladder.build.title,
            "mac_cycles": ladder.climb.emitted_cycles,
            "macs_cycles": ladder.climb.scheduled_cycles,
            "measured_cycles": ladder.climb.measured_cycles,
            "gaps": [str(gap) for gap in ladder.climb.gaps()],
        }
        for ladder in ladders.of(bound)
    ]
    return {"ladder": rows}


def show_ladders(console: Console, ladders: Ladders | None) -> None:
    """Print a line for each loop and build, and what is missing."""
    if ladders is None:
        return
    title = "From the bound to the time, cycles per iteration"
    words = ("loop", "build", GAP)
    table = plain_table(title, "loop", "build", *RUNGS, GAP, words=words, whole=("build",))
    for ladder in ladders.ladders:
        add_literal(table, *_ladder_cells(ladder))
    if ladders.ladders:
        console.print()
        console.print(table)
    for reason in ladders.reasons:
        console.print(reason, markup=False, style="yellow")


def _ladder_cells(ladder: LoopLadder) -> list[str]:
    counts = ladder.bound.counts
    gap = max(ladder.climb.gaps(), key=lambda gap: gap.ratio, default="")
    build = ladder.build.title.replace(" -march=native", "")
    return [f"{counts.function}:{counts.line}", build, *_rungs(ladder.climb), str(gap)]


def _rungs(climb: Climb) -> list[str]:
    """The cycles of each of RUNGS."""
    known_cycles = (climb.essential_cycles, climb.emitted_cycles, climb.scheduled_cycles)
    return [cell("cycles", cycles) for cycles in (*known_cycles, climb.measured_cycles)]


def show_livermore(console: Console, processor: Processor | None, table: Sequence[Row]) -> None:
    """Print the times, then the ladder of each kernel's fastest build with the cause of gaps."""
    from nhalf.loops.livermore.titles import EXPLANATIONS

    bounded = f"; bounds of {processor.title or processor.name}" if processor else ""
    title = f"Livermore kernels, cycles per iteration{bounded}"
    plain = [build for build in used(table) if not build.is_tuned]
    builds = [build.title.replace("-march=native", "") for build in plain]
    shown = plain_table(title, "kernel", "bound", *builds, "limit", words=("kernel", "limit"))
    for row in table:
        shown.add_row(*_kernel_cells(row))
    console.print(shown)
    if processor is None:
        console.print("No bounds: the processor here was not measured. Run `nhalf node` first.")
        return
    console.print()
    console.print(_ladders(table))
    for row in table:
        if explanation := EXPLANATIONS.get(row.bound.number):
            print_lines(console, f"{row.bound.number}: {explanation}")
    console.print()
    console.print(_tuned(table))
    show_doubts(console, processor)


def _ladders(table: Sequence[Row]) -> Table:
    """The rungs of each kernel in its fastest build, and what to try next."""
    title = "From the bound to the time, in the fastest build (all builds: --json, --report)"
    words = ("kernel", "build", GAP)
    shown = plain_table(title, "kernel", *RUNGS, "build", GAP, words=words, whole=("build",))
    for row in table:
        cells = _rungs(row.climb(row.fastest))
        build = row.fastest.build.title.replace(" -march=native", "")
        shown.add_row(str(row.bound.number), *cells, build, row.advice)
    return shown


def _tuned(table: Sequence[Row]) -> Table:
    """Kernels before and after they were transformed."""
    from nhalf.loops.livermore.titles import TUNED

    title = "Transformed kernels, cycles per iteration and share of the bounding rate"
    names = ("kernel", "bound", "plain", "tuned", "build", "transformations")
    shown = plain_table(
        title, *names, words=("kernel", "build", "transformations"), whole=("build",)
    )
    for row in table:
        if row.tuned is not None:
            cells = [
                _time(timing.cycles_per_iteration, row.share(timing))
                for timing in (row.fastest, row.tuned)
            ]
            bound = cell("cycles", row.bound.cycles)
            build = row.tuned.build.title.replace(" -march=native", "")
            words = ", ".join(TUNED[row.bound.number])
            shown.add_row(str(row.bound.number), bound, *cells, build, words)
    return shown


def _kernel_cells(row: Row) -> list[str]:
    limits = [UNITS[name] for name in row.bound.limits[:1]]
    times = [_time(timing.cycles_per_iteration, row.share(timing)) for timing in row.plain]
    bound = cell("cycles", row.bound.cycles)
    return [f"{row.bound.number} {row.bound.title}", bound, *times, *(limits or ["–"])]


def _time(cycles: float, share: float | None) -> str:
    return fixed(cycles, 2) + ("" if share is None else f" ({percent(share)})")
