"""Numbers of a node in studies: its nearest cache, and the Livermore kernels."""

from __future__ import annotations

from pathlib import Path
from typing import cast

import pytest

from nhalf.base import native_files
from nhalf.base.errors import InputError
from nhalf.facts.facts import Facts
from nhalf.loops.builds import Build
from nhalf.loops.livermore.corpus import kernel_bounds
from nhalf.loops.livermore.keeping import keep
from nhalf.loops.livermore.table import Row, rows
from nhalf.loops.livermore.timing import KernelTiming
from nhalf.machines.processor_file import processor
from nhalf.node.measuring import CoreProbe, ask_nearest
from nhalf.store.record import event
from nhalf.store.run import Run
from nhalf.studies import node_figures
from nhalf.studies.form import Quantity
from nhalf.studies.measured import Measured
from nhalf.studies.published.numbers import published
from nhalf.studies.recorded import RecordedMachine
from nhalf.studies.value import StudyValue
from tests.nhalf.facts.test_node import of_reading
from tests.nhalf.node.synthetic_core import SyntheticCore
from tests.nhalf.studies.test_numbers import points

NATIVE = Path(__file__).resolve().parents[3] / "native"
CLOCK_HZ = 2e9


@pytest.fixture(autouse=True)
def _ours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(native_files, "include_folder", lambda: NATIVE)
    node_figures._bound.cache_clear()


def of(source: Measured | RecordedMachine, name: str) -> StudyValue:
    return source.value(Quantity(node=name))


class TestOfARecord:
    def test_bounds_of_kernels_are_as_published(self) -> None:
        sp2 = RecordedMachine("sp2-mpl")
        for number, cpf, mflops in ((1, 0.300, 222), (7, 0.250, 267)):
            name = f"kernel-{number}"
            assert of(sp2, f"{name}-cpf").median == pytest.approx(cpf)
            assert of(sp2, f"{name}-rate").median / 1e6 == pytest.approx(mflops, abs=0.5)
            assert published(sp2, Quantity(node=f"{name}-cpf")) == StudyValue(
                cpf, origin="published"
            )
        assert published(sp2, Quantity(node="kernel-2-cpf")) is None
        assert published(sp2, Quantity(node="kernel-1-full")) is None

    def test_the_cache_is_the_published_one(self) -> None:
        sp2 = RecordedMachine("sp2-mpl")
        names = ("l1-size", "l1-line", "l1-ways", "l1-hit", "l1-missing-load")
        assert [of(sp2, name).median for name in names] == [65536, 64, 4, 1, pytest.approx(16.3)]
        assert of(sp2, "l1-missing-store-ratio").median == pytest.approx(22.0 / 16.3)
        assert of(sp2, "l1-size").origin == "published"
        assert of(sp2, "l1-miss-share") == StudyValue(1.0, origin="published")  # from 1.25 C on

    @pytest.mark.parametrize(
        ("machine", "name", "reason"),
        [
            ("spp1000-pvm", "l1-size", "processor of spp1000-pvm is not described"),
            ("sp2-mpl", "kernel-1-full", "no times of kernels"),
            ("sp2-mpl", "kernel-15-cpf", "kernel 15 has no bound"),
        ],
    )
    def test_what_is_not_known(self, machine: str, name: str, reason: str) -> None:
        with pytest.raises(InputError, match=reason):
            of(RecordedMachine(machine), name)


def table(factor: float) -> list[Row]:
    """Kernel 12, whose bound on POWER2 is one cycle, unoptimised and fully optimised."""
    levels = ((("-O0",), 8.0), (("-O3", "-march=native"), 2.0 * factor))
    timed = [
        KernelTiming(12, Build("gcc", level), cycles, 1000, 1.0, CLOCK_HZ, (cycles / CLOCK_HZ,))
        for level, cycles in levels
    ]
    return rows(kernel_bounds(processor("power2")), timed)[11:12]


class TestOfARun:
    def test_kernels_have_the_interval_of_their_launches(self, tmp_path: Path) -> None:
        run = keep(Run.create(tmp_path / "node", {}), *map(table, (1.0, 1.0, 1.1))).run
        source = Measured("node", Facts.of([run]))
        share = of(source, "kernel-12-full")
        assert share.median == pytest.approx(0.5, rel=0.05)
        assert share.ci is not None
        assert share.ci[0] < 1 / 2.2 < share.median < share.ci[1]
        assert of(source, "kernel-12-unoptimised").median == pytest.approx(1 / 8)
        assert of(source, "kernel-12-cpf").ends == (1, 1)
        assert of(source, "kernel-12-rate").median == pytest.approx(CLOCK_HZ)
        for name, reason in (("kernel-12-basic", "was not run"), ("kernel-1-full", "was not run")):
            with pytest.raises(InputError, match=reason):
                of(source, name)

    def test_a_single_launch_has_no_interval(self, tmp_path: Path) -> None:
        run = keep(Run.create(tmp_path / "node", {}), table(1.0)).run
        assert of(Measured("node", Facts.of([run])), "kernel-12-full").ci is None

    def test_the_nearest_cache_in_every_launch(self, tmp_path: Path) -> None:
        run = Run.create(tmp_path / "node", {})
        with run.journal() as journal:
            for launch in range(3):
                core = SyntheticCore(launch=launch, seed=launch + 1)
                ask_nearest(cast("CoreProbe", core))
                for position, point in enumerate(core.readings):
                    journal.append(event("point", "node", of_reading(position, point)))
        source, truth = Measured("node", Facts.of([run])), SyntheticCore()
        assert of(source, "l1-size").median == truth.sizes[0]
        assert of(source, "l1-size").ci == (truth.sizes[0], truth.sizes[0])
        assert of(source, "l1-ways").median == truth.ways[0]
        assert of(source, "l1-line").median == truth.line_bytes
        assert of(source, "l1-hit").median == pytest.approx(truth.cycles[0], rel=0.05)
        assert of(source, "l1-missing-load").median == pytest.approx(truth.cycles[1], rel=0.05)
        assert 0.8 < of(source, "l1-miss-share").median <= 1

    def test_without_a_node(self) -> None:
        source = points({}, patterns=("pingpong",))
        for name, reason in (("l1-size", "no node was measured"), ("kernel-1-cpf", "not run")):
            with pytest.raises(InputError, match=reason):
                of(source, name)
