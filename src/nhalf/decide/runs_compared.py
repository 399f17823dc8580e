"""Runs that are shown together, each compared with the first; a run beside a machine of record."""

from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import groupby
from typing import Any

import polars as pl

from nhalf.decide.changes import Comparison, CurveRatio, SizeRatio
from nhalf.decide.check.against import TOLERANCE, against_machine
from nhalf.decide.compare import Sides, compare_all, pair_libraries
from nhalf.facts.extent import node_runs
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.tails import tail_samples
from nhalf.machines.machine import Machine
from nhalf.statistics.doubt import Doubt
from nhalf.statistics.family import analyses_of
from nhalf.statistics.same_state import same_states


@dataclass(frozen=True)
class RunChange:
    """A run against the first one; `lost` is why further curves have no launches to compare."""

    before: str
    now: str
    comparison: Comparison
    lost: tuple[Doubt, ...]


def measured_runs(facts: Facts) -> list[str]:
    """The names of the runs, in the order in which they were given, without those of nodes."""
    nodes = node_runs(facts)
    return [name for name in facts.environments if name not in nodes]


@fact
def run_changes(facts: Facts) -> list[RunChange]:
    """Every further run against the first, as one family; those without a common point left out."""
    runs = measured_runs(facts)
    if len(runs) < 2:
        return []
    medians = facts.flagged
    before = medians.filter(pl.col("run") == runs[0])
    sides, lost = [], []
    for run in runs[1:]:
        now = medians.filter(pl.col("run") == run)
        compared, doubts = sides_of(
            before, now, analyses_of(facts.environments[run].get("plan", {}))
        )
        of_first, of_run = (
            tail_samples(facts).filter(pl.col("run") == name) for name in (runs[0], run)
        )
        sides.append(replace(compared, samples=(of_first, of_run)))
        lost.append(doubts)
    changes = [
        RunChange(runs[0], run, comparison, doubts)
        for run, comparison, doubts in zip(runs[1:], compare_all(sides), lost, strict=True)
    ]
    return [change for change in changes if change.comparison.curves or change.lost]


def sides_of(
    before: pl.DataFrame, now: pl.DataFrame, analyses: int = 1
) -> tuple[Sides, tuple[Doubt, ...]]:
    """Two runs (FLAGGED_COLUMNS) in equal states, and why further curves cannot be compared."""
    libraries = pair_libraries(before, now)
    pairs = same_states(before, now, libraries)
    sides = Sides(pairs.a, pairs.b, libraries, pairs.doubts, paired=pairs.paired, analyses=analyses)
    return sides, tuple(row["doubt"] for row in pairs.lost)


@dataclass(frozen=True)
class UnlikeSizes:
    """Neighbouring sizes whose times differ for certain: the smallest and the largest ratio.

    Ratios are the run's times over the published ones, in the same direction at all these sizes.
    """

    from_bytes: int
    to_bytes: int
    least_ratio: float
    greatest_ratio: float


@dataclass(frozen=True)
class Likeness:
    """A curve of a run beside the published one: what sizes are unlike, and what is undecided.

    Sizes are alike or unlike by more than `tolerance_share`, or undecided where the interval of
    their ratio holds both; `from_bytes` and `to_bytes` are the first and the last size of both.
    """

    machine: str
    pattern: str
    mpi: str
    ranks: int
    placement: str
    from_bytes: int
    to_bytes: int
    tolerance_share: float
    compared: int
    undecided: int
    unlike_count: int
    unlike: tuple[UnlikeSizes, ...]

    def as_json(self) -> dict[str, Any]:
        """A row of `likeness` in `nhalf compare --json`."""
        return asdict(self)


def likenesses(
    facts: Facts, machine: Machine, tolerance: float = TOLERANCE, mpi: str = ""
) -> list[Likeness]:
    """The curves of a run, of one of its libraries if named, that a machine has as tables.

    Raises InputError for a machine without models.
    """
    comparison = against_machine(facts, machine, max(tolerance, TOLERANCE)).comparison
    curves = comparison.curves if comparison else []
    published = {
        (model.pattern, model.placement, model.axes) for model in machine.models if model.is_table
    }
    return [
        _likeness(curve, machine.name)
        for curve in curves
        if mpi in ("", curve.mpi_b) and curve.sizes
        if tuple(curve.point[name] for name in ("pattern", "placement", "axes")) in published
    ]


def _likeness(curve: CurveRatio, machine: str) -> Likeness:
    unlike = tuple(_unlike(curve.sizes))
    verdicts = [size.verdict for size in curve.sizes]
    sizes = [size.size_bytes for size in curve.sizes]
    return Likeness(
        machine=machine,
        pattern=curve.point["pattern"],
        mpi=curve.mpi_b,
        ranks=curve.point["ranks"],
        placement=curve.point["placement"],
        from_bytes=min(sizes),
        to_bytes=max(sizes),
        tolerance_share=curve.threshold - 1,
        compared=len(sizes),
        undecided=verdicts.count("unclear"),
        unlike_count=verdicts.count("slower") + verdicts.count("faster"),
        unlike=unlike,
    )


def _unlike(sizes: Sequence[SizeRatio]) -> Iterator[UnlikeSizes]:
    """Runs of neighbouring sizes that are all slower, or all faster."""
    ordered = sorted(sizes, key=lambda size: size.size_bytes)
    for verdict, group in groupby(ordered, key=lambda size: size.verdict):
        if verdict in ("slower", "faster"):
            members = list(group)
            ratios = [size.ratio.ratio for size in members]
            first, last = members[0].size_bytes, members[-1].size_bytes
            yield UnlikeSizes(first, last, min(ratios), max(ratios))
