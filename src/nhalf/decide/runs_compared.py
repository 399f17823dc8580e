"""Runs that are shown together, each compared with the first: as `nhalf compare` does."""

from dataclasses import dataclass, replace

import polars as pl

from nhalf.decide.changes import Comparison
from nhalf.decide.compare import Sides, compare_all, pair_libraries
from nhalf.facts.extent import node_runs
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.tails import tail_samples
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
