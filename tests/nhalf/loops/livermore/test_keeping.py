"""Kernels as a run: every rung comes back from the store, into tables and reports."""

from __future__ import annotations

import io
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from nhalf.base import native_files
from nhalf.facts.facts import Facts
from nhalf.loops.builds import Build
from nhalf.loops.listing.micro_ops import MicroOperation
from nhalf.loops.livermore.corpus import kernel_bounds
from nhalf.loops.livermore.keeping import keep
from nhalf.loops.livermore.table import KernelCode, Row, rows
from nhalf.loops.livermore.timing import KernelTiming
from nhalf.loops.rungs import Rungs
from nhalf.machines.processor_file import processor
from nhalf.present.findings import findings
from nhalf.present.panels import Table
from nhalf.present.panels.node import Ladder as Panel
from nhalf.present.panels.node import TunedKernels
from nhalf.present.terminal.bounds import show_livermore
from nhalf.store.run import Run

NATIVE = Path(__file__).resolve().parents[4] / "native"
SLOW, FAST = Build("gcc", ("-O0",)), Build("gcc", ("-O3", "-march=native"))


@pytest.fixture(name="table")
def _table(monkeypatch: pytest.MonkeyPatch) -> list[Row]:
    """Kernel 12, whose bound on POWER2 is one cycle, in two builds."""
    monkeypatch.setattr(native_files, "include_folder", lambda: NATIVE)
    times = ((SLOW, 6.0), (FAST, 3.0))
    timed = [
        KernelTiming(12, one, cycles, 1000, 1.0, 2e9, (cycles / 2e9,)) for one, cycles in times
    ]
    asked = {MicroOperation("add"): 1.0, MicroOperation("load"): 2.0}
    emitted = [
        KernelCode(12, SLOW, (Rungs(2.0, 6.0, "load", asked),)),
        KernelCode(12, FAST, (Rungs(2.0, 1.0, "load", asked),)),
    ]
    return rows(kernel_bounds(processor("power2")), timed, emitted)[11:12]


@pytest.fixture(name="tuned")
def _tuned(table: list[Row]) -> list[Row]:
    """The same, with the transformed source."""
    build = replace(FAST, is_tuned=True)
    timing = KernelTiming(12, build, 1.25, 1000, 1.0, 2e9, (1.25 / 2e9,))
    return [replace(table[0], timings=(*table[0].timings, timing))]


def test_a_run_has_every_rung_and_its_causes(table: list[Row], tmp_path: Path) -> None:
    run = keep(Run.create(tmp_path / "lfk", {}), table).run
    slow, fast = Facts.of([run]).results["ladder"]
    assert (slow["build"], fast["build"]) == ("gcc -O0", "gcc -O3 native")
    rungs = [fast[name] for name in ("ma_cycles", "mac_cycles", "macs_cycles", "cycles")]
    assert rungs == pytest.approx([1.0, 2.0, 2.0, 3.0])
    assert fast["cause"] == "not vectorised"
    assert slow["cause"].startswith("each iteration waits for a value that goes through memory")
    assert [gap.partition(":")[0] for gap in fast["gaps"]] == ["MA to MAC", "MACS to measured"]


def test_the_report_has_a_panel_of_rungs(table: list[Row], tmp_path: Path) -> None:
    shown = Panel().render(Facts.of([keep(Run.create(tmp_path / "lfk", {}), table).run]))
    assert isinstance(shown, Table)
    cells = [row[2:7] for row in shown.rows]
    assert cells == [
        ["1.00", "2.00", "6.00", "6.00", "17 %"],
        ["1.00", "2.00", "2.00", "3.00", "33 %"],
    ]
    assert "compile with -O2" in shown.rows[0][7]


def test_the_terminal_has_the_fastest_build_of_each_kernel(table: list[Row]) -> None:
    written = io.StringIO()
    show_livermore(Console(file=written, width=200), processor("power2"), table)
    lines = written.getvalue().splitlines()
    (line,) = [line for line in lines if line.split()[:5] == ["12", "1.00", "2.00", "2.00", "3.00"]]
    assert "gcc -O3" in line
    assert "not vectorised: vectorise (-O3 -march=native)" in line


def test_findings_tell_what_is_lost_most(table: list[Row], tmp_path: Path) -> None:
    run = keep(Run.create(tmp_path / "lfk", {}), table).run
    found = {one.kind: one for one in findings(Facts.of([run]))}
    assert "1 kernel reach 33 %" in found["bound-reached"].text
    assert found["bound-missed"].text.startswith("Not vectorised")
    assert found["bound-missed"].remedy.startswith("Vectorise (-O3 -march=native)")
    assert "tuned-reached" not in found


def test_a_tuned_kernel_is_beside_the_plain_one(tuned: list[Row], tmp_path: Path) -> None:
    facts = Facts.of([keep(Run.create(tmp_path / "lfk", {}), tuned).run])
    assert [row["build"] for row in facts.results["ladder"]][-1] == "gcc -O3 native tuned"
    shown = TunedKernels().render(facts)
    assert isinstance(shown, Table)
    words = "vectorise, keep elements in registers"
    assert [row[1:] for row in shown.rows] == [["1.00", "3.00", "1.25", "33 %", "80 %", words]]
    (said,) = [one for one in findings(facts) if one.kind == "tuned-reached"]
    assert "reach 80 % of the bounding rate on average, the same kernels before 33 %" in said.text
    assert tuned[0].fastest.build == FAST
    written = io.StringIO()
    show_livermore(Console(file=written, width=200), processor("power2"), tuned)
    (line,) = [line for line in written.getvalue().splitlines() if words in line]
    assert line.split()[:8] == ["12", "1.00", "3.00", "(33", "%)", "1.25", "(80", "%)"]


def test_without_tuned_kernels_there_is_no_such_table(table: list[Row], tmp_path: Path) -> None:
    facts = Facts.of([keep(Run.create(tmp_path / "lfk", {}), table).run])
    assert TunedKernels().render(facts) is None
