"""The smallest gain that a search is likely to find and to prove, told before it begins.

A gain is proven after n pairs if its interval lies above `LEAST_GAIN` (sequential.py), which four
of five proofs reach from the gain

    LEAST_GAIN + (t(n - 1, 1 - a / 2) + z) s / sqrt(n)

on, with the deviation s of the logarithm of a pair's ratio, the error a of each analysis, and z =
0.84, the normal quantile of 80 %. Before, the candidate has to be among the best of the
scouts, which takes about 2 s / sqrt(ROUNDS). The larger of the two counts.
"""

from __future__ import annotations

import math
from contextlib import suppress
from dataclasses import dataclass

from nhalf.experiment.improve.candidate import PLAIN, Setting
from nhalf.experiment.improve.search import BLOCK, FINALISTS, ROUNDS, SCOUTING_SHARE, SHORTEST_S
from nhalf.experiment.improve.sequential import LEAST_GAIN, attempt_rate
from nhalf.experiment.improve.trials import SearchState
from nhalf.experiment.out_of_time import OutOfTime
from nhalf.experiment.turns import LaunchFailed, Turns
from nhalf.statistics.paired import ANALYSES, Effect

POWER_QUANTILE = 0.8416
"""The normal quantile of four of five."""
MEDIAN_QUANTILE = 0.6745
"""The median deviation of a normal distribution, in standard deviations."""
SCOUTED_DEVIATIONS = 2.0
"""The best of ten candidates without a gain is lucky by less than this in most waves."""
SAMPLES, SAMPLES_SHARE = 3, 0.05
"""Further launches of the plain program, and the share of the remaining budget they may take."""


@dataclass(frozen=True)
class Provable:
    """What a search can prove in `remaining_s`: a program that becomes `factor` times as fast.

    None if nothing can be proven, or if `spread_share` is unknown. `pairs` is the largest number
    of pairs of launches of a proof; `spread_share` is by what share two launches of the plain
    program differ, None if there was no time for two.
    """

    factor: float | None
    pairs: int
    spread_share: float | None
    remaining_s: float


def provable(state: SearchState) -> Provable:
    """What can be proven with what remains of the budget, after some more plain launches.

    A launch that fails is left to the search, which says what that means.
    """
    turns = state.turns
    samples = min(SAMPLES, int(turns.remaining_s * SAMPLES_SHARE / max(turns.cost_s, SHORTEST_S)))
    with suppress(OutOfTime, LaunchFailed):
        for _ in range(samples):
            turns.take([PLAIN], PLAIN)
    pairs = _pairs(turns)
    if len(turns.times_s[PLAIN]) == 1:
        return Provable(None, pairs, None, turns.remaining_s)
    factor = least_factor(state.spread, pairs, len(state.trials))
    return Provable(factor, pairs, state.spread, turns.remaining_s)


def least_factor(spread_share: float, pairs: int, candidates: int) -> float | None:
    """By which factor one of several candidates has to be faster; None with too few pairs."""
    if spread_share == 0.0:
        return math.exp(LEAST_GAIN)
    deviation = spread_share / MEDIAN_QUANTILE
    rate = ANALYSES.part(attempt_rate(1))
    planned = (Effect.planned(number, deviation) for number in ANALYSES.until(pairs).pairs)
    proofs = [LEAST_GAIN + mean.reach(rate) + POWER_QUANTILE * mean.error for mean in planned]
    if not proofs:
        return None
    is_scouted = candidates > FINALISTS
    scouted = SCOUTED_DEVIATIONS * deviation / math.sqrt(ROUNDS) if is_scouted else 0.0
    return math.exp(max(min(proofs), scouted))


def _pairs(turns: Turns[Setting]) -> int:
    """How many pairs there are for a proof, after the scouts if there is time for them."""
    launches = turns.remaining_s / max(turns.cost_s, SHORTEST_S)
    is_scouted = launches * SCOUTING_SHARE >= BLOCK + 1
    share = 1 - SCOUTING_SHARE if is_scouted else 1.0
    return max(0, min(ANALYSES.pairs[-1], int(launches * share / 2)))
