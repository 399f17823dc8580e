"""Kernels whose gaps no rung explains have a reason, on the terminal and in JSON."""

import io

from rich.console import Console

from nhalf.loops.builds import Build
from nhalf.loops.livermore.corpus import KernelBound
from nhalf.loops.livermore.table import Row, as_json
from nhalf.loops.livermore.timing import KernelTiming
from nhalf.loops.livermore.titles import EXPLANATIONS
from nhalf.machines.processor_file import processor
from nhalf.present.terminal.bounds import show_livermore


def row(number: int) -> Row:
    timing = KernelTiming(number, Build("gcc", ("-O2",)), 8.0, 100, 1.0, 3e9)
    bound = KernelBound(number, (), "no bound")
    return Row(bound, (timing,))


def test_kernels_far_from_their_bounds_are_explained() -> None:
    table = [row(10), row(11), row(15)]
    assert [kernel["explanation"] for kernel in as_json(table)] == [
        EXPLANATIONS[10], "", EXPLANATIONS[15],
    ]  # fmt: skip
    console = Console(file=io.StringIO(), width=200)
    show_livermore(console, processor("power2"), table)
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert f"10: {EXPLANATIONS[10]}" in shown
    assert f"15: {EXPLANATIONS[15]}" in shown
    assert "11: " not in shown
