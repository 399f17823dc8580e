"""The proof: a library applies a file, and is faster with it.

*Applied*: a file with an additional bad rule (the slowest algorithm observed) must make its cell as
slow as when the algorithm is forced by variables. If launch k took d by default, f forced and b
with the bad rule,

    x(k) = log b(k) - (log f(k) + log d(k)) / 2

is half of the effect log f - log d if the rule is applied and minus that if it is not; the interval
of its mean decides. *Faster*: default and tuned take turns, judged by decide/compare. That the file
is applied does not mean that each of its rules is: one that gains less than half of what its
algorithm did when it was forced has no effect.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np

from nhalf.decide.changes import CurveRatio
from nhalf.decide.compare import compare
from nhalf.experiment.race import AlgorithmGain, TuningCell, merge
from nhalf.experiment.tune.bench import LibraryBench, MeasuredTimes
from nhalf.measure.plan.plan import JOINT, Block, sizes_text
from nhalf.mpi.decision_table import NATIVE, Rule, choice
from nhalf.statistics.intervals import Floats
from nhalf.statistics.paired import Effect

Applied = Literal["active", "not active", "unclear"]

EFFECT_LEAST = math.log(1.3)
"""A bad rule must have at least this effect to prove anything."""
LAUNCHES = 5
LAUNCHES_LEAST = 3
TRIES = 4
LOWEST = "lowest_s"
"""The fastest sample of a launch: a truly slow algorithm is slow even undisturbed."""
PLACES_MAX = 3
TRIAL_LAUNCHES = 6
TRY_LEAST_S, TRIAL_LEAST_S = 30.0, 30.0
"""Fewer launches prove nothing, so small budgets are exceeded here. Unneeded time is not
spent."""
SURE = 0.99
THRESHOLD = 1.02
TUNED = "tuned"
"""The setting of the library with the file."""


@dataclass(frozen=True)
class Activity:
    """Whether a bad rule was applied, where, and the evidence.

    `heeded_share` is 0 for no effect and 1 for the effect of forcing; NaN without launches.
    """

    verdict: Applied
    cell: TuningCell
    algorithm: str
    default_s: float
    forced_s: float
    bad_rule_s: float
    heeded_share: float
    why: str


def prove_active(
    bench: LibraryBench,
    places: Sequence[tuple[TuningCell, str]],
    write: Callable[[Rule, Path], None],
    budget_s: float,
) -> Activity:
    """Measure a cell by default, forced to a bad algorithm, and with a file that selects it.

    `places` are cells with such an algorithm, the best first: the next one is taken if it is not
    as bad as expected. `write` writes a file with a rule that takes precedence over all others.
    More launches follow while the result is unclear.
    """
    times: MeasuredTimes = {}
    candidates = list(places[:PLACES_MAX])
    for number in range(TRIES):
        cell, algorithm = candidates[0]
        path = bench.folder / f"bad-rule-{bench.tuner.file_name}"
        write(bad_rule(cell, algorithm), path)
        variables = {
            "forced": bench.tuner.force({cell.operation: algorithm}),
            "bad-rule": bench.tuner.activate(path),
        }
        names = {(cell.operation, key): key for key in variables}
        sizes = sizes_text([cell.size_bytes])
        block = Block([cell.operation], [cell.ranks], sizes, launches=LAUNCHES)
        run = f"active-{number + 1}"
        medians = bench.measure(run, [block], variables, max(budget_s / TRIES, TRY_LEAST_S))
        times = merge([times, bench.times(run, medians, names, LOWEST)])
        activity = judge(cell, algorithm, times.get(cell, {}))
        if activity.verdict != "unclear":
            break
        # Without launches, which have no time, it took too long to be forced at all.
        is_slow = activity.forced_s >= 2 * math.exp(EFFECT_LEAST) * activity.default_s
        if not is_slow and len(candidates) > 1:
            del candidates[0]
            times = {}
    return activity


def judge(
    cell: TuningCell, algorithm: str, times: Mapping[str, Mapping[tuple[str, int], float]]
) -> Activity:
    """The verdict from launch medians by NATIVE, 'forced' and 'bad-rule'."""
    default, forced, bad = (times.get(key, {}) for key in (NATIVE, "forced", "bad-rule"))
    common = sorted(set(default) & set(forced) & set(bad))
    if len(common) >= LAUNCHES_LEAST:
        logs = (np.log([launches[key] for key in common]) for launches in (default, forced, bad))
        verdict, share, why = _verdict(algorithm, *logs)
    else:
        lacking = "with the bad rule" if not bad else "forced" if not forced else "in common"
        verdict, share, why = "unclear", math.nan, f"no launches {lacking} to judge by"
    default_s, forced_s, bad_rule_s = (
        float(np.median(list(launches.values()))) if launches else math.nan
        for launches in (default, forced, bad)
    )
    return Activity(verdict, cell, algorithm, default_s, forced_s, bad_rule_s, share, why)


def _verdict(algorithm: str, d: Floats, f: Floats, b: Floats) -> tuple[Applied, float, str]:
    """The verdict, the share of the effect, and why; of logarithms by launch (launches,)."""
    effect, level = f - d, b - (f + d) / 2
    (centre, effect_reach), (middle, level_reach) = (
        (judged.log_ratio, judged.reach((1 - SURE) / TRIES))
        for judged in (Effect.of(effect), Effect.of(level))
    )
    share = 0.5 + middle / centre if centre else math.nan
    if centre - effect_reach < EFFECT_LEAST:
        return "unclear", share, f"{algorithm} is not significantly slower than the default there"
    where = f"a rule for {algorithm} in the same place"
    if middle - level_reach > 0:
        return "active", share, f"{where} takes as long as {algorithm} forced"
    if middle + level_reach < 0:
        return "not active", share, f"{where} changes nothing: the file is not applied"
    return "unclear", share, "launches differ too much"


def trial(
    bench: LibraryBench,
    path: Path,
    cells: Sequence[TuningCell],
    budget_s: float,
    run: str = "trial",
) -> list[CurveRatio]:
    """Compare the default with the file, cell by cell; B is the tuned library."""
    grouped: dict[tuple[str, int], list[int]] = {}
    for cell in cells:
        grouped.setdefault((cell.operation, cell.ranks), []).append(cell.size_bytes)
    blocks = [
        Block([operation], [ranks], sizes_text(sizes), launches=TRIAL_LAUNCHES)
        for (operation, ranks), sizes in grouped.items()
    ]
    medians = bench.measure(
        run, blocks, {TUNED: bench.tuner.activate(path)}, max(budget_s, TRIAL_LEAST_S)
    )
    name = bench.library.name
    pair = [(name, f"{name}{JOINT}{TUNED}")]
    if bench.wrong_cells.get(run) and medians["mpi"].n_unique() < 2:
        return []  # one side has wrong data everywhere
    return compare(medians, medians, libraries=pair, threshold=THRESHOLD, took_turns=True).curves


def wrong_with_file(bench: LibraryBench, run: str) -> list[TuningCell]:
    """The cells in which the file made the library deliver wrong data."""
    wrong = bench.wrong_cells.get(run, ())
    return sorted({cell for cell, setting in wrong if setting == TUNED})


def refuted(curves: Sequence[CurveRatio]) -> list[TuningCell]:
    """The cells that are slower with the file."""
    return [
        TuningCell(curve.point["pattern"], curve.point["ranks"], size.size_bytes)
        for curve in curves
        for size in curve.sizes
        if size.verdict == "slower"
    ]


def without_effect(
    curves: Sequence[CurveRatio],
    won: Mapping[TuningCell, Sequence[AlgorithmGain]],
    rules: Sequence[Rule],
) -> list[TuningCell]:
    """The cells whose rule gains less than half of what its algorithm did when it was forced."""
    cells = []
    for curve in curves:
        for size in curve.sizes:
            cell = TuningCell(curve.point["pattern"], curve.point["ranks"], size.size_bytes)
            chosen = choice(rules, *cell)
            claimed = [gain for gain in won.get(cell, ()) if gain.algorithm == chosen]
            if claimed and size.ratio.low > math.exp(-claimed[0].log_ratio / 2):
                cells.append(cell)
    return cells


def bad_rule(cell: TuningCell, algorithm: str) -> Rule:
    """A rule for a single cell."""
    return Rule(cell.operation, cell.ranks, cell.ranks, cell.size_bytes, cell.size_bytes, algorithm)
