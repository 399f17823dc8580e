"""The search for what makes a program faster: scout all candidates, then prove the best.

1. *Scouting.* Candidates come in waves, the largest expected saving first. Up to `BLOCK` of them
   and the base are launched once each, in random order. After each round the half that gained
   less leaves, until few are left: successive halving (Z. Karnin, T. Koren, O. Somekh, Almost
   optimal exploration in multi-armed bandits, ICML 2013).
2. *Proof.* The best is launched in pairs with the base. Launches of the scouts do not count, so
   that a candidate that was chosen because it was lucky has to be lucky again; every attempt has
   its own part of the error of the search (`attempt_rate`).
3. A proven candidate joins the base, and what is left of the wave is scouted again on top of it.

Where several candidates were proven one upon the other, all together are launched in pairs with the
plain program at the end. Where there is no time for that, the gain is the product of the steps.

The smallest gain that a search is likely to prove is told before it begins. A gain is proven after
n pairs if its interval lies above `LEAST_GAIN`, which four
of five proofs reach from the gain

    LEAST_GAIN + (t(n - 1, 1 - a / 2) + z) s / sqrt(n)

on, with the deviation s of the logarithm of a pair's ratio, the error a of each analysis, and z =
0.84, the normal quantile of 80 %. Before, the candidate has to be among the best of the
scouts, which takes about 2 s / sqrt(ROUNDS). The larger of the two counts.
"""

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import takewhile
from statistics import median

from nhalf.base.errors import FailedError
from nhalf.experiment.improve.change import PLAIN, Candidate, Setting, title
from nhalf.experiment.improve.trials import (
    EXACT_PAIRS,
    FALSE_SHARE,
    LEAST_GAIN,
    CandidateTrial,
    SearchState,
    SettingGain,
    Stage,
    attempt_rate,
    gain,
    is_analysed,
    is_exact,
    mean,
    together,
)
from nhalf.experiment.turns import Launch, LaunchFailed, Limits, OutOfTime, Turns
from nhalf.measure.launches.timed import is_stdin_lost
from nhalf.statistics.paired import ANALYSES, Effect

BLOCK = 3
"""This many candidates share a launch of the base."""
ROUNDS = 3
FINALISTS = 2
"""This many are left for the proof."""
SCOUTING_SHARE = 0.5
"""The share of the remaining budget that scouting may take."""
SHORTEST_S = 1e-6
"""No launch is shorter, whatever a clock says."""
MUCH_SLOWER, CLEARLY_SLOWER = math.log(1.5), math.log(1.1)
"""Who loses so much in one round, or on average of several, leaves at once; on a machine where
launches differ, it has to be more by twice the difference."""
PROMISING = math.log(1.005)
"""Who gained less on average is not worth a proof."""
WAVE = 10
"""This many candidates are scouted together, those with the largest expected saving first: the
best of more would be lucky rather than good, and the others may never be needed."""
FAR_LESS_SHARE = 0.1
"""A candidate with less than this share of a wave's largest expected saving comes in a later wave,
so that it takes no launches from those before it."""
WAVE_MOST = 40
"""At most this many, where the last ones are for the same calls: one of them will exclude the
others, so all are scouted before one is proven."""
STDIN = "give it what it reads as a file (< input), "
ATTEMPTS_MAX = 8
LIMITS = Limits(factor=3.0, spare_s=5.0, first_launches=1)
"""A setting that takes longer than three times the plain program never helps."""
ALIKE = math.log(1.02)
"""Candidates that differ by less are about as good: the one with more expected comes first."""
HINDERING_SHARE = 0.5
"""A setting without which the program gains this share of the best gain may hinder it: that is
proven first, and what helps as well is proven upon it."""


def turns_of(
    launch: Launch[Setting],
    budget_s: float,
    clock_s: Callable[[], float] = time.monotonic,
    seed: int = 1,
) -> Turns[Setting]:
    """The launches of a search that has not begun."""
    return Turns(launch, budget_s, clock_s, seed, LIMITS, exact_launches=EXACT_PAIRS)


def search(
    turns: Turns[Setting], candidates: Sequence[Candidate], false_share: float = FALSE_SHARE
) -> SearchState:
    """A search without anything launched; `run` launches."""
    trials = {candidate.name: CandidateTrial(candidate) for candidate in candidates}
    return SearchState(turns, trials, false_share)


def first(turns: Turns[Setting]) -> float:
    """The time of a launch of the plain program, seconds. Raises FailedError if it does not run."""
    try:
        return turns.first(PLAIN)
    except LaunchFailed as error:
        raise FailedError(
            f"the program as it is does not run: {error}",
            f"{STDIN if is_stdin_lost() else ''}run it by hand first, or give it more time with "
            "--budget",
        ) from error


def run(state: SearchState) -> None:
    """Launch until nothing is left to try, or no time.

    Raises FailedError if the program as it is does not run.
    """
    turns = state.turns
    try:
        if PLAIN not in turns.times_s:
            first(turns)
        for wave in waves(state.candidates):
            _run_wave(state, wave)
        _prove_total(state)
    except LaunchFailed as error:
        raise FailedError(
            f"{title(state.setting)} has run before, and does not run any more: {error}",
            "run it by hand",
        ) from error
    except OutOfTime:
        state.is_out_of_time = True


def waves(candidates: Sequence[Candidate]) -> Iterator[Sequence[Candidate]]:
    """The candidates in the parts in which they are scouted."""
    begin = 0
    while begin < len(candidates):
        least_share = FAR_LESS_SHARE * candidates[begin].expected_share
        near = (candidate.expected_share >= least_share for candidate in candidates[begin:])
        most = begin + min(WAVE_MOST, sum(1 for _ in takewhile(bool, near)))
        end = min(most, begin + WAVE)
        while end < most and candidates[end].excludes(candidates[end - 1]):
            end += 1
        yield candidates[begin:end]
        begin = end


def _run_wave(state: SearchState, wave: Sequence[Candidate]) -> None:
    """Scout and prove some candidates, until none of them gains anything upon the base."""
    remaining = list(wave)
    while state.attempts < ATTEMPTS_MAX:
        remaining = [
            candidate
            for candidate in remaining
            if not any(candidate.excludes(winner) for winner in state.proven)
            and state.fate(state.trials[candidate.name]) not in ("refused", "slower")
        ]
        finalists = _scout(state, remaining) if remaining else []
        if not any(_proof(state, best) for best in finalists):
            return


def _scout(state: SearchState, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates worth a proof upon the present base, the best first.

    A single one is, and so are all, as they are expected, if there is no time to scout.
    """
    turns, base = state.turns, state.setting
    affordable = turns.remaining_s * SCOUTING_SHARE / max(turns.cost_s, SHORTEST_S)
    if len(candidates) == 1 or affordable < min(BLOCK, len(candidates)) + 1:
        return list(candidates)
    end_s = turns.remaining_s * (1 - SCOUTING_SHARE)
    racing = list(candidates)
    logs: dict[Candidate, list[float]] = {candidate: [] for candidate in candidates}
    for number in range(ROUNDS):
        if not racing or (len(racing) == 1 and len(logs[racing[0]]) > 1):
            break
        order = racing if number == 0 else turns.random.sample(racing, len(racing))
        for begin in range(0, len(order), BLOCK):
            block = order[begin : begin + BLOCK]
            if turns.remaining_s - (len(block) + 1) * turns.cost_s < end_s:
                return _promising(state, logs)
            turn = turns.take([base, *((*base, candidate) for candidate in block)], base)
            for candidate in block:
                if (*base, candidate) in turn:
                    log = turn[base] - turn[(*base, candidate)]
                    logs[candidate].append(log)
                    if base == PLAIN:
                        state.trials[candidate.name].scouted_relative.append(log)
        racing = _left(state, racing, logs)
    return _promising(state, logs)


def _left(
    state: SearchState, racing: Sequence[Candidate], logs: Mapping[Candidate, list[float]]
) -> list[Candidate]:
    """Who goes into the next round: the better half, and none that lost clearly."""
    remaining = []
    for candidate in racing:
        trial = state.trials[candidate.name]
        if candidate in state.refused or not logs[candidate]:
            continue
        values = logs[candidate]
        least = MUCH_SLOWER if len(values) == 1 else CLEARLY_SLOWER
        is_slower = max(values) < 0 and mean(values) < -least - 2 * state.spread
        trial.stage = Stage.SLOWER if is_slower else Stage.SCOUTED
        first = logs[candidate][0]
        # Where times do not vary, it is sure not to gain.
        is_settled = first == 0.0 or (is_exact(logs[candidate]) and first <= PROMISING)
        if not (is_slower or is_settled):
            remaining.append(candidate)
    remaining = _by_gain(state, remaining, logs)
    return remaining[: max(FINALISTS, math.ceil(len(remaining) / 2))]


def _promising(state: SearchState, logs: Mapping[Candidate, list[float]]) -> list[Candidate]:
    """Who gained on average, the best first; of the others it is kept that they did not."""
    ranked = []
    for candidate, values in logs.items():
        trial = state.trials[candidate.name]
        if candidate not in state.refused and values and trial.stage is not Stage.SLOWER:
            trial.stage = Stage.SCOUTED
            if _credible(candidate, values) > PROMISING:
                ranked.append(candidate)
    return _by_gain(state, ranked, logs)[:FINALISTS]


def _by_gain(
    state: SearchState, candidates: Sequence[Candidate], logs: Mapping[Candidate, list[float]]
) -> list[Candidate]:
    """The largest gain first; those about as good as the best keep their order.

    What only takes a setting away comes before what is set instead, if it gains about half as much.
    """
    gains = {candidate: _credible(candidate, logs[candidate]) for candidate in candidates}
    in_order = sorted(candidates, key=state.candidates.index)
    in_order.sort(key=lambda candidate: -gains[candidate])
    best_relative = gains[in_order[0]] if in_order else 0.0
    first = [
        candidate
        for candidate in in_order
        if best_relative - gains[candidate] <= ALIKE
        or (candidate.change.only_removes and gains[candidate] > best_relative * HINDERING_SHARE)
    ]
    first.sort(key=lambda c: (not c.change.only_removes, state.candidates.index(c)))
    return first + [candidate for candidate in in_order if candidate not in first]


def _proof(state: SearchState, candidate: Candidate) -> bool:
    """Launch a candidate in pairs with the base until it is proven or given up."""
    base, trial = state.setting, state.trials[candidate.name]
    state.attempts += 1
    rate = attempt_rate(state.attempts, state.false_share)
    trial.stage, trial.proof = Stage.PROVING, None
    for gained in _pairs(state, base, (*base, candidate), rate):
        trial.proof = gained
        if gained.is_proven:
            trial.stage = Stage.PROVEN
            if candidate not in state.proven:
                state.proven.append(candidate)
            state.total = together(state.gains)
    if trial.stage is Stage.PROVING:
        trial.stage = Stage.GIVEN_UP
    return trial.stage is Stage.PROVEN


def _pairs(
    state: SearchState, base: Setting, setting: Setting, rate: float
) -> Iterator[SettingGain]:
    """The gain at every analysis, until it is proven and precise, or hopeless.

    What was proven by one stays so: later ones are given if they say it more precisely.
    """
    turns, logs = state.turns, list[float]()
    best: SettingGain | None = None
    base_first = True
    while len(logs) < ANALYSES.pairs[-1]:
        # Two pairs at a time are in opposite order, so that a drift weighs on none.
        base_first = turns.random.random() < 0.5 if len(logs) % 2 == 0 else not base_first
        log = turns.pair(base, setting, base_first)
        if log is None:
            return
        logs.append(log)
        if is_analysed(logs):
            gained = gain(logs, rate)
            if best is None or not best.is_proven or best.low < gained.low:
                best = gained
                yield best
            if best.is_hopeless or (best.is_proven and best.is_precise):
                return


def _prove_total(state: SearchState) -> None:
    """The gain of several proven candidates together, over the plain program.

    Until launches tell it better, it is that of their steps.
    """
    if len(state.proven) < 2:
        return
    state.attempts += 1
    rate = attempt_rate(state.attempts, state.false_share)
    by_steps = together(state.gains)
    for gained in _pairs(state, PLAIN, state.setting, rate):
        if gained.low >= by_steps.low or gained.is_precise:
            state.total = gained


def _credible(candidate: Candidate, values: Sequence[float]) -> float:
    """The median of a candidate's logarithms, since launches are disturbed as wholes, but no more
    than it can save: the excess is luck.
    """
    most = -math.log1p(-candidate.upper_share) if candidate.upper_share < 1 else math.inf
    return min(median(values), most) if values else -math.inf


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
    launches = turns.remaining_s / max(turns.cost_s, SHORTEST_S)
    is_scouted = launches * SCOUTING_SHARE >= BLOCK + 1
    share = 1 - SCOUTING_SHARE if is_scouted else 1.0
    pairs = max(0, min(ANALYSES.pairs[-1], int(launches * share / 2)))
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
