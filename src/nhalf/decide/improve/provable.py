# SPDX-License-Identifier: Apache-2.0
"""The smallest gain that a search is likely to find and to prove, before it begins.

A gain is proven after n pairs if its interval lies above `LEAST_GAIN` (sequential.py), which four
of five proofs reach from the gain

    LEAST_GAIN + (t(n - 1, 1 - a / 2) + z) s / sqrt(n)

on, with the deviation s of the logarithm of a pair's ratio, the error a of the look after n pairs,
and z = 0.84, the normal quantile of 80 %. Before, the candidate has to be among the best of the
scouts, which takes about 2 s / sqrt(ROUNDS). The larger of the two counts.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass

from nhalf.decide.improve.candidate import PLAIN, Setting
from nhalf.decide.improve.search import BLOCK, FINALISTS, ROUNDS, SCOUTING_SHARE, SHORTEST_S
from nhalf.decide.improve.sequential import (
    FALSE_SHARE,
    LEAST_GAIN,
    LOOK_SHARES,
    LOOKS,
    attempt_rate,
)
from nhalf.decide.out_of_time import OutOfTime
from nhalf.decide.turns import LaunchFailed, Turns

POWER_QUANTILE = 0.8416
"""The normal quantile of four of five."""
SCOUTED_DEVIATIONS = 2.0
"""The best of ten candidates without a gain is lucky by less than this in most waves."""
SAMPLES, SAMPLES_SHARE = 3, 0.05
"""Further launches of the plain program, and the share of the remaining budget they may take."""
FALSE_GAIN_SHARE = 0.5
"""The share of a look's error that is at the lower end of the interval."""


@dataclass(frozen=True)
class Provable:
    """What a search can prove: the factor by which a program has to become faster; None if nothing
    can be proven, or if `deviation_share` is unknown.

    `pairs` is the largest number of pairs of launches of a proof, and `deviation_share` that of the
    logarithm of a launch's time: None if there was no time to launch twice.
    """

    factor: float | None
    pairs: int
    deviation_share: float | None
    remaining_s: float


def provable(turns: Turns[Setting], candidates: int) -> Provable:
    """What can be proven with what remains of the budget, after some more plain launches.

    A launch that fails is left to the search, which says what that means.
    """
    samples = min(SAMPLES, int(turns.remaining_s * SAMPLES_SHARE / max(turns.cost_s, SHORTEST_S)))
    with suppress(OutOfTime, LaunchFailed):
        for _ in range(samples):
            turns.take([PLAIN], PLAIN)
    times_s = turns.times_s[PLAIN]
    # The first launch reads the program from the disk, and others do not.
    deviation = _deviation(times_s[1:] if len(times_s) > 2 else times_s)
    pairs = _pairs(turns)
    factor = None if deviation is None else least_factor(deviation, pairs, candidates)
    return Provable(factor, pairs, deviation, turns.remaining_s)


def least_factor(deviation: float, pairs: int, candidates: int) -> float | None:
    """By which factor one of several candidates has to be faster; None with too few pairs."""
    if deviation == 0.0:
        return math.exp(LEAST_GAIN)
    per_pair = deviation * math.sqrt(2)
    proofs = [
        LEAST_GAIN + (_quantile(look, share) + POWER_QUANTILE) * per_pair / math.sqrt(look)
        for look, share in zip(LOOKS, LOOK_SHARES, strict=True)
        if look <= pairs
    ]
    if not proofs:
        return None
    scouted = SCOUTED_DEVIATIONS * per_pair / math.sqrt(ROUNDS) if candidates > FINALISTS else 0.0
    return math.exp(max(min(proofs), scouted))


def _pairs(turns: Turns[Setting]) -> int:
    """How many pairs there are for a proof, after the scouts if there is time for them."""
    launches = turns.remaining_s / max(turns.cost_s, SHORTEST_S)
    is_scouted = launches * SCOUTING_SHARE >= BLOCK + 1
    share = 1 - SCOUTING_SHARE if is_scouted else 1.0
    return max(0, min(LOOKS[-1], int(launches * share / 2)))


def _quantile(look: int, share: float) -> float:
    from scipy.special import stdtrit

    error = attempt_rate(1, FALSE_SHARE) * share * FALSE_GAIN_SHARE
    return float(stdtrit(look - 1, 1 - error))


def _deviation(times_s: Sequence[float]) -> float | None:
    """The standard deviation of logarithms, without the bias of few values; None of one."""
    count = len(times_s)
    if count < 2:
        return None
    logs = [math.log(time_s) for time_s in times_s]
    centre = math.fsum(logs) / count
    variance = math.fsum((log - centre) ** 2 for log in logs) / (count - 1)
    unbiased = math.sqrt(2 / (count - 1)) * math.gamma(count / 2) / math.gamma((count - 1) / 2)
    return math.sqrt(variance) / unbiased
