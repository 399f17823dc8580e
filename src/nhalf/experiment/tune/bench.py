"""Measures algorithms: one library, unmodified and with settings, in runs of a folder."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import msgspec
import polars as pl

from nhalf.decide.criteria import ROOT
from nhalf.decide.ways import COMPLETION
from nhalf.experiment.race import TuningCell
from nhalf.facts.facts import Facts
from nhalf.facts.reported import REPORTED, SettingWitness, witness
from nhalf.facts.wrong_data import WrongData, wrong_data
from nhalf.measure.loop import session
from nhalf.measure.loop.progress import Progress
from nhalf.measure.plan.agenda import Agenda
from nhalf.measure.plan.plan import JOINT, Block, Plan, Setting, split_name
from nhalf.measure.plan.state import RunState
from nhalf.measure.virtual.machine import VirtualMachine, in_virtual_time, real_time
from nhalf.mpi import Library
from nhalf.mpi.decision_table import NATIVE
from nhalf.mpi.tuner import Tuner
from nhalf.sites.placement import FREE
from nhalf.sites.site import Site
from nhalf.statistics.summary import reported_medians, stated_visits

Names = Mapping[tuple[str, str], str]
"""The algorithm of an operation under a setting."""
MeasuredTimes = dict[TuningCell, dict[str, dict[tuple[str, int], float]]]


@dataclass
class LibraryBench:
    """Measures one library by `plan`, whose blocks, settings and budget are replaced.

    On a simulated `machine`, without noise, every measurement is exact, and made once.
    """

    library: Library
    tuner: Tuner
    folder: Path
    plan: Plan
    site: Site
    progress: Callable[[], Progress]
    placement: str
    machine: VirtualMachine | None = None
    criterion: str = COMPLETION
    """By which time algorithms are compared, of CRITERIA."""
    notes: list[str] = field(default_factory=list)
    tell: Callable[[str], None] = lambda text: None
    """Takes a line about the time that a measurement takes."""
    wrong: list[WrongData] = field(default_factory=list)
    """What delivered wrong data in any run."""
    wrong_cells: dict[str, set[tuple[TuningCell, str]]] = field(default_factory=dict)
    """By run, the cells with wrong data, each with the setting under which they were."""
    refused: set[tuple[str, str]] = field(default_factory=set)
    """Operations with algorithms that delivered wrong data anywhere: these are never chosen."""
    witnesses: dict[str, dict[str, SettingWitness]] = field(default_factory=dict)
    """By run and setting, what the library itself said of the setting."""

    @property
    def is_exact(self) -> bool:
        """Whether every launch takes the same time."""
        return self.machine is not None and self.machine.is_exact

    def measure(
        self,
        name: str,
        blocks: Sequence[Block],
        variables: Mapping[str, Mapping[str, str]],
        budget_s: float,
        *,
        elsewhere: bool = False,
    ) -> pl.DataFrame:
        """Launch times of its own run, in which every setting takes turns with the others.

        `elsewhere` includes points that were measured only in another state of the machine than
        most of the run. Raises MissingError if nothing could be measured.
        """
        settings = [Setting(key, dict(values)) for key, values in variables.items()]
        placed = [msgspec.structs.replace(block, placements=[self.placement]) for block in blocks]
        plan = msgspec.structs.replace(
            self.plan, blocks=placed, settings=settings, budget_s=budget_s, mpi=[self.library.name]
        )
        if self.machine:
            self.machine.check(placed)
            plan = in_virtual_time(plan, self.machine, plan.timeout_s)
        prepared = session.begin(plan, self.folder / name, self.site, machine=self.machine)
        if self.machine:
            agenda = Agenda(prepared.plan, prepared.subjects, RunState(placement=FREE))
            if words := real_time(agenda).in_words(prepared.plan.budget_s):
                self.tell(words)
        outcome = session.measure(prepared, self.progress())
        messages = [
            *(f"{subject}: {why}" for subject, why in outcome.failed.items()),
            *outcome.notes,
        ]
        self.notes += [f"{name}: {text}" for text in messages]
        facts = Facts.of([outcome.run])
        self._keep_wrong(name, facts)
        self._keep_witnesses(name, facts, variables)
        measurements = outcome.run.measurements()
        return launch_times(measurements, elsewhere=elsewhere, criterion=self.criterion)

    def _keep_wrong(self, name: str, facts: Facts) -> None:
        """Remember what delivered wrong data in a run."""
        wrong = wrong_data(facts)
        self.wrong += wrong
        self.wrong_cells[name] = {
            (TuningCell(curve.pattern, curve.ranks, size), split_name(curve.mpi)[1])
            for curve in wrong
            for size in curve.sizes_bytes
        }

    def _keep_witnesses(
        self, name: str, facts: Facts, variables: Mapping[str, Mapping[str, str]]
    ) -> None:
        """Remember what the library said of each setting; other values than given are a note."""
        reported = next(iter(facts.reported_environments.values()), {}).get(REPORTED, {})
        self.witnesses[name] = {
            setting: witness(values, reported.get(f"{self.library.name}{JOINT}{setting}", {}))
            for setting, values in variables.items()
        }
        for setting, own in self.witnesses[name].items():
            for variable in own.other_values.keys() & variables[setting].keys():
                setting_text = f"{variable}={variables[setting][variable]}"
                reason = f"the library reports {own.other_values[variable]} (MPI_T)"
                self.notes.append(f"{name}: {setting_text} did not take effect: {reason}")

    def times(
        self, name: str, medians: pl.DataFrame, names: Names, column: str = "median_s"
    ) -> MeasuredTimes:
        """Launch times by cell and algorithm; `name` keeps launches of different runs apart."""
        for cell, setting in self.wrong_cells.get(name, ()):
            if setting and (cell.operation, setting) in names:
                self.refused.add((cell.operation, names[cell.operation, setting]))
        times: MeasuredTimes = {}
        columns = ("pattern", "ranks", "bytes", "mpi", "launch", column)
        for pattern, ranks, size_bytes, mpi, launch, time_s in medians.select(columns).rows():
            setting = split_name(mpi)[1]
            algorithm = names.get((pattern, setting)) if setting else NATIVE
            if algorithm is None or not time_s > 0 or (pattern, algorithm) in self.refused:
                continue
            cell = TuningCell(pattern, ranks, size_bytes)
            times.setdefault(cell, {}).setdefault(algorithm, {})[name, launch] = time_s
        return times


def launch_times(
    measurements: pl.LazyFrame, *, elsewhere: bool = False, criterion: str = COMPLETION
) -> pl.DataFrame:
    """Launch times in the reported state, with the lower quartile of the samples as `median_s`.

    Disturbances add time, and they affect all algorithms equally only in the long run; the lower
    quartile needs only a quarter of undisturbed samples. By another criterion than completion it
    is how long the root is in the operation, or all ranks added up: the median of each of them.
    """
    time_s = pl.col("samples_s").list.eval(pl.element().quantile(0.25, "lower"))
    if criterion != COMPLETION:
        ranks = pl.col("rank_s").list
        kept_s = ranks.first() if criterion == ROOT else ranks.sum()
        time_s = pl.when(ranks.len() == pl.col("ranks")).then(pl.concat_list(kept_s)).otherwise([])
    stated = stated_visits(measurements.with_columns(samples_s=time_s))
    return reported_medians(stated, elsewhere=elsewhere)
