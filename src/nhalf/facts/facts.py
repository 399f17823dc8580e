"""Everything known about one or several runs; each fact is computed once, on first access.

Findings, panels, tables, checks, exporters and notebooks receive a `Facts` and compute none of this
themselves. What only some of them need has its own file in this folder: functions of `Facts` that
are decorated with `fact`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Self

import polars as pl

from nhalf.base.errors import InputError, library_named, unknown
from nhalf.base.rows import Row
from nhalf.facts.fact import fact, supply
from nhalf.facts.reported import with_reports
from nhalf.results import parts, results
from nhalf.statistics import summary as summaries
from nhalf.statistics.advice import is_elsewhere
from nhalf.store.collection import distinct
from nhalf.store.keys import MEASUREMENT_COLUMNS
from nhalf.store.places import places, started_launches
from nhalf.store.run import others

if TYPE_CHECKING:
    from pathlib import Path

    from nhalf.machines.machine import FittedModel, LogGP, Machine, PatternModel
    from nhalf.store.places import Place, Start, StartedLaunch
    from nhalf.store.run import Others, Run


ORIGIN = re.compile(r" \((?:wheel|prefix|path|system)\)")


def short_titles(titles: Mapping[str, str]) -> dict[str, str]:
    """Name the origin of a library only if two would have the same title without.

    `{"mpich-5.0.2": "MPICH 5.0.2 (wheel)"}` becomes `{"mpich-5.0.2": "MPICH 5.0.2"}`.
    """
    short = {name: ORIGIN.sub("", title) for name, title in titles.items()}
    count = Counter(short.values())
    return {name: title if count[title] == 1 else titles[name] for name, title in short.items()}


@dataclass(frozen=True)
class Overlay:
    """Curves to be drawn behind others: those of an earlier run, or of a machine's models.

    `points` has the columns `series`, `pattern`, `bytes`, `median_s` and `rate_Bps` (bytes per
    second, null if no data moves); a series that the run also has keeps its name.
    """

    name: str
    points: pl.DataFrame


@dataclass(frozen=True)
class Facts:
    """The measurements of runs, the reported values of each point, and models of them.

    `measurements` has one row per visit of a launch to a point (MEASUREMENT_COLUMNS of
    store/keys.py: times of samples in seconds, sizes in bytes); `titles` gives the title for a
    library's name ('mpich-5.0.2' -> 'MPICH 5.0.2 (wheel)'); `environments` has one mapping per run:
    where it was measured, and under `plan` what was requested; `find_places` reads the places of
    the ranks, `find_started` every launch that was started, and `find_others` what others took of
    the cores during each launch, all by run; `find_events` the events of one name, each with its
    run.
    Times are seconds, sizes bytes, rates bytes per second. A damaged store raises InputError if
    a fact that needs it is accessed.
    """

    measurements: pl.LazyFrame
    titles: Mapping[str, str] = field(default_factory=dict)
    environments: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)
    find_places: Callable[[], dict[str, dict[Start, list[Place]]]] = dict
    find_others: Callable[[], dict[str, list[Others]]] = dict
    find_started: Callable[[], dict[str, dict[Start, list[StartedLaunch]]]] = dict
    find_events: Callable[[str], list[tuple[str, dict[str, Any]]]] = lambda _: []

    @classmethod
    def of(cls, runs: Sequence[Run], mpi: Sequence[str] = ()) -> Self:
        """The facts of several runs; of each only the library in `mpi`, if it names one.

        Raises InputError if no run is given, or one has no finished point or no such library.
        """
        if not runs:
            raise InputError("no run was given", "name at least one run directory")
        run_by_name = distinct(runs)
        frames = {
            name: run.measurements().with_columns(run=pl.lit(name)).select(*MEASUREMENT_COLUMNS)
            for name, run in run_by_name.items()
        }
        whole = cls(
            measurements=pl.concat(frames.values()),
            titles=short_titles({key: title for run in runs for key, title in run.titles.items()}),
            environments={
                name: {**run.environment, **({"plan": run.plan} if run.plan else {})}
                for name, run in run_by_name.items()
            },
            find_places=lambda: {name: places(run) for name, run in run_by_name.items()},
            find_others=lambda: {name: others(run) for name, run in run_by_name.items()},
            find_started=lambda: {name: started_launches(run) for name, run in run_by_name.items()},
            find_events=lambda kind: [
                (name, event)
                for name, run in run_by_name.items()
                for event in run.events()
                if event["event"] == kind
            ],
        )
        if not any(mpi):
            return whole
        libraries_by_path: dict[Path, list[str]] = {}
        for run, library in zip(runs, mpi, strict=True):
            libraries_by_path.setdefault(run.path, []).append(library)
        return whole.filtered(
            pl.any_horizontal(
                (pl.col("run") == name) & _has(frames[name], "mpi", *libraries_by_path[run.path])
                for name, run in run_by_name.items()
            )
        )

    def with_known(self, **facts: Any) -> Self:
        """A copy with some facts given instead of computed: `with_known(summary=frame)`.

        No other computed fact is kept, because it may depend on those given.
        """
        copy = replace(self)
        for name, value in facts.items():
            supply(copy, getattr(type(self), name), value)
        return copy

    def restricted(self, **values_by_column: str) -> Self:
        """The facts of only the points with these values: `restricted(mpi="mpich-5.0.2")`.

        '' selects all. Raises InputError for a value that no point has.
        """
        conditions: list[pl.Expr] = []
        for column, value in values_by_column.items():
            if value:
                conditions.append(_has(self.measurements.filter(*conditions), column, value))
        return self.filtered(*conditions) if conditions else self

    def filtered(self, *conditions: pl.Expr) -> Self:
        """The facts of only the points that fulfil conditions on their columns.

        Each has the value that it has in the whole: which state of the machine is reported follows
        from all that was measured on the same cores.
        """
        selected = replace(self, measurements=self.measurements.filter(*conditions))
        return selected.with_known(
            summary=self.summary.filter(*conditions), stated=self.stated.filter(*conditions)
        )

    @property
    @fact
    def summary(self) -> pl.DataFrame:
        """The reported values: one row per point (SUMMARY_COLUMNS of store/keys.py).

        `median_s` and the ends of its 95 % interval, `ci_low_s` and `ci_high_s`, are seconds.
        """
        return summaries.summarise(self.measurements)

    @property
    @fact
    def launches(self) -> pl.DataFrame:
        """One row per point and launch: run, the point's columns, launch, `median_s`, `samples`.

        These are the launches in the machine state that most of the run was measured in; those of
        points that hardly met it are left out.
        """
        return summaries.reported_medians(self.stated)

    @property
    @fact
    def stated(self) -> pl.DataFrame:
        """Every visit of a launch to a point, with the state of the machine meanwhile.

        Adds to `visits` (statistics/summary.py) `state_s`, the median flag of the state; `counts`,
        whether it is reported; and `elsewhere`, whether its point is reported in another state
        than most of the run (statistics/advice.py).
        """
        return summaries.stated_visits(self.measurements)

    @property
    @fact
    def flagged(self) -> pl.DataFrame:
        """One row per point, launch and state of the machine: as `launches`, with `flag_s`.

        `flag_s` is the time of a flag between two cores meanwhile (statistics/advice.py).
        """
        return summaries.state_medians(self.stated)

    @property
    @fact
    def launches_by_state(self) -> pl.DataFrame:
        """`launches` and those in other known states, which are numbered as launches of their own.

        Ratios of sizes within one are of equal states, and there are more of them than in the
        reported state alone.
        """
        return summaries.medians_by_state(self.stated)

    @property
    @fact
    def whole(self) -> pl.DataFrame:
        """The rows of `summary` that are meaningful by themselves: no parts of derived results."""
        return self.summary.filter(~pl.col("pattern").is_in(list(parts())))

    @property
    @fact
    def sound(self) -> pl.DataFrame:
        """The rows of `summary` with a finite positive time, and derived columns.

        Adds `low_s` and `high_s`, the interval with the median for a missing end, and the rates
        `rate_Bps`, `rate_low_Bps` and `rate_high_Bps`, null if no data moves. Points measured in
        another state of the machine than most of the run are left out: `elsewhere` has them.
        """
        return self._drawable.filter(~is_elsewhere())

    @property
    @fact
    def elsewhere(self) -> pl.DataFrame:
        """The points that `sound` leaves out, because the machine was in another state."""
        return self._drawable.filter(is_elsewhere())

    @property
    @fact
    def _drawable(self) -> pl.DataFrame:
        """The rows of `summary` with a positive time in any state, and the columns of `sound`."""
        median, moved = pl.col("median_s"), pl.col("bytes_per_time")
        ends = {
            name: pl.when(pl.col(end).is_finite() & (pl.col(end) > 0)).then(end).otherwise(median)
            for name, end in (("low_s", "ci_low_s"), ("high_s", "ci_high_s"))
        }
        rates = {"rate_Bps": "median_s", "rate_low_Bps": "high_s", "rate_high_Bps": "low_s"}
        return (
            self.summary.filter(median.is_finite() & (median > 0))
            .with_columns(**ends)
            .with_columns(
                **{name: pl.when(moved > 0).then(moved / pl.col(t)) for name, t in rates.items()}
            )
        )

    @property
    @fact
    def models(self) -> list[FittedModel]:
        """A model of time against size for every curve that can be fitted."""
        from nhalf.facts.causes import with_causes
        from nhalf.facts.fit import fit_summary

        try:
            models = fit_summary(self.summary, self.launches)
            return with_causes(models, self.reported_environments)
        except InputError:
            return []

    @property
    @fact
    def loggp(self) -> list[LogGP]:
        """The parameters of the LogP family for every library for which they were measured."""
        from nhalf.facts.fit import fit_loggp

        return fit_loggp(self.stated)

    @property
    @fact
    def patterns(self) -> list[PatternModel]:
        """A model of time against size and ranks of every pattern with enough numbers of ranks."""
        from nhalf.facts.pattern_fit import fit_patterns

        return fit_patterns(self.summary)

    @property
    @fact
    def reported_environments(self) -> Mapping[str, Mapping[str, Any]]:
        """`environments` with what each MPI library said of its parameters (reported.py)."""
        return with_reports(self.environments, self.started)

    @property
    @fact
    def places(self) -> dict[str, dict[Start, list[Place]]]:
        """The place of every rank, by run and launch configuration, as far as it was recorded."""
        return self.find_places()

    @property
    @fact
    def started(self) -> dict[str, dict[Start, list[StartedLaunch]]]:
        """Every launch that was started, by run and configuration; none where a journal is damaged,
        since measurements do not need it.
        """
        try:
            return self.find_started()
        except InputError:
            return {}

    @property
    @fact
    def results(self) -> dict[str, list[Row]]:
        """The rows of every derived result of the data, by its name (nhalf.results)."""
        return results(self.measurements, self.summary, lambda: self.places)

    @property
    @fact
    def machine(self) -> Machine:
        """The machine that the run describes, with every model that could be fitted.

        Raises InputError if there is nothing to fit, or for several runs.
        """
        from nhalf.facts.fit import SIZES_MIN, machine_of

        if len(self.environments) > 1:
            names = ", ".join(self.environments)
            raise InputError(f"{names} are several runs", "fit one at a time")
        ((run, environment),) = self.environments.items()
        if not (self.models or self.loggp or self.patterns):
            message = f"{run} has no curve to fit: each needs {SIZES_MIN} sizes with sound data"
            raise InputError(message, "measure more sizes, for instance --bytes 0:4M")
        return machine_of(run, environment, self.models, self.loggp, self.patterns)

    @property
    @fact
    def overlay(self) -> Overlay | None:
        """Curves that charts show in the background, as given by `with_known(overlay=...)`."""
        return None

    def launches_of(self, subject: Mapping[str, Any]) -> int:
        """The number of launches of a subject: the minimum over its points.

        In virtual time it is the number of equal ones that stand for one. `subject` gives values of
        columns, such as `mpi` and `ranks`.
        """
        rows = self.summary.filter(*(pl.col(name) == value for name, value in subject.items()))
        if rows["advice"].list.contains(summaries.VIRTUAL).all() and not rows.is_empty():
            return summaries.STAND_INS
        return int(rows["launches"].min() or 0)  # type: ignore[arg-type]


def _has(measurements: pl.LazyFrame, column: str, *selected: str) -> pl.Expr:
    """Whether a row has one of these values; '' selects all.

    A transport that has no library counts as one. Raises InputError for a value that none has.
    """
    if not all(selected):
        return pl.lit(True)
    if column == "mpi":
        carriers = pl.when(pl.col("mpi") == "").then("transport").otherwise("mpi")
        present = measurements.select(carriers.unique()).collect().to_series().to_list()
        return carriers.is_in([library_named(name, present) for name in selected])
    present = measurements.select(pl.col(column).unique()).collect().to_series().to_list()
    for value in selected:
        if value not in present:
            raise unknown(column, value, present)
    return pl.col(column).is_in(selected)
