# SPDX-License-Identifier: Apache-2.0
"""The search for what makes a program faster: scout all candidates, then prove the best.

1. *Scouting.* Up to `BLOCK` candidates and the base are launched once each, in random order. After
   each round the half that gained less leaves, until few are left: successive halving (Z. Karnin,
   T. Koren, O. Somekh, Almost optimal exploration in multi-armed bandits, ICML 2013).
2. *Proof.* The best is launched in pairs with the base. Launches of the scouts do not count, so
   that a candidate that was chosen because it was lucky has to be lucky again; every attempt has
   its own part of the error of the search (`attempt_rate`).
3. A proven candidate joins the base, and what is left is scouted_relative again on top of it.

Where several candidates were proven one upon the other, all together are launched in pairs with the
plain program at the end.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Literal

from nhalf.decide.improve.candidate import PLAIN, Candidate, Setting
from nhalf.decide.improve.sequential import (
    FALSE_SHARE,
    LOOKS,
    Gain,
    attempt_rate,
    gain,
    is_exact,
    is_look,
)
from nhalf.decide.improve.turns import OutOfTime, Turns

BLOCK = 3
"""This many candidates share a launch of the base."""
ROUNDS = 3
FINALISTS = 2
"""This many are left for the proof."""
SCOUTING_SHARE = 0.5
"""The share of the remaining budget that scouting may take."""
CLEARLY_SLOWER = math.log(1.10)
"""Who loses so much in a round leaves at once."""
PROMISING = math.log(1.005)
"""Who gained less on average is not worth a proof."""
ATTEMPTS_MAX = 6

Fate = Literal["proven", "no gain", "slower", "refused", "unclear", "not reached"]


@dataclass
class Trial:
    """What is known of a candidate: logarithms of ratios from scouting, and of proofs."""

    candidate: Candidate
    scouted_relative: list[float] = field(default_factory=list)
    proof: Gain | None = None
    fate: Fate = "not reached"

    @property
    def scouted_factor(self) -> float | None:
        """By which factor it was faster in scouting; None without a launch."""
        return math.exp(_mean(self.scouted_relative)) if self.scouted_relative else None


@dataclass
class Search:
    """The state and the result of a search; it can be read at any moment.

    `proven` are the candidates that help, each with its gain over those before; `total` is the gain
    of all together.
    """

    turns: Turns
    trials: dict[str, Trial]
    false_share: float = FALSE_SHARE
    proven: list[Candidate] = field(default_factory=list)
    total: Gain | None = None
    attempts: int = 0
    is_out_of_time: bool = False

    @property
    def setting(self) -> Setting:
        """What is switched on so far."""
        return tuple(self.proven)

    @property
    def is_complete(self) -> bool:
        """Whether the budget sufficed for all that was planned."""
        fates = {trial.fate for trial in self.trials.values()}
        return not self.is_out_of_time and not fates & {"unclear", "not reached"}

    @property
    def plain_s(self) -> float | None:
        """The median time of the plain program, seconds; None before its first launch."""
        times = sorted(self.turns.times_s.get(PLAIN, []))
        return times[len(times) // 2] if times else None

    @property
    def spread(self) -> float:
        """The median deviation between two launches of the plain program, as a share."""
        times = self.turns.times_s.get(PLAIN, [])
        if len(times) < 2:
            return 0.0
        steps = sorted(abs(math.log(after / before)) for before, after in pairwise(times))
        return steps[len(steps) // 2]


def search(
    turns: Turns, candidates: Sequence[Candidate], false_share: float = FALSE_SHARE
) -> Search:
    """A search without anything launched; `run` launches."""
    trials = {candidate.name: Trial(candidate) for candidate in candidates}
    return Search(turns, trials, false_share)


def run(state: Search) -> None:
    """Launch until nothing is left to try, or no time.

    Raises FailedError if the program as it is does not run.
    """
    turns = state.turns
    try:
        if PLAIN not in turns.times_s:
            turns.first()
        remaining = [trial.candidate for trial in state.trials.values()]
        while remaining and state.attempts < ATTEMPTS_MAX:
            finalists = _scout(state, remaining)
            winner = next((best for best in finalists if _proof(state, best)), None)
            if winner is None:
                break
            remaining = [
                candidate
                for candidate in remaining
                if not candidate.excludes(winner)
                and state.trials[candidate.name].fate not in ("refused", "slower")
            ]
        _prove_total(state)
    except OutOfTime:
        state.is_out_of_time = True
        _leave_unclear(state)


def _scout(state: Search, candidates: Sequence[Candidate]) -> list[Candidate]:
    """The candidates worth a proof upon the present base, the best first; a single one is."""
    if len(candidates) == 1:
        return list(candidates)
    turns, base = state.turns, state.setting
    end_s = turns.remaining_s * (1 - SCOUTING_SHARE)
    racing = list(candidates)
    logs: dict[Candidate, list[float]] = {candidate: [] for candidate in candidates}
    for number in range(ROUNDS):
        if not racing or (len(racing) == 1 and not _is_new(state, racing)):
            break
        order = racing if number == 0 else turns.random.sample(racing, len(racing))
        for begin in range(0, len(order), BLOCK):
            block = order[begin : begin + BLOCK]
            if turns.remaining_s - (len(block) + 1) * turns.cost_s < end_s:
                return _promising(state, logs)
            times = turns.block([base, *((*base, candidate) for candidate in block)])
            for candidate in block:
                if (*base, candidate) in times:
                    log = math.log(times[base] / times[(*base, candidate)])
                    logs[candidate].append(log)
                    state.trials[candidate.name].scouted_relative.append(log)
        racing = _left(state, racing, logs)
    return _promising(state, logs)


def _is_new(state: Search, racing: Sequence[Candidate]) -> bool:
    """Whether one is left of which a single launch says nothing yet."""
    return any(len(state.trials[candidate.name].scouted_relative) < 2 for candidate in racing)


def _left(
    state: Search, racing: Sequence[Candidate], logs: Mapping[Candidate, list[float]]
) -> list[Candidate]:
    """Who goes into the next round: the better half, and none that lost clearly."""
    remaining = []
    for candidate in racing:
        trial = state.trials[candidate.name]
        if candidate in state.turns.refused:
            trial.fate = "refused"
        elif logs[candidate] and _mean(logs[candidate]) < -CLEARLY_SLOWER:
            trial.fate = "slower"
        elif logs[candidate]:
            trial.fate = "no gain"
            if not _is_settled(logs[candidate]):
                remaining.append(candidate)
    remaining.sort(key=lambda candidate: -_mean(logs[candidate]))
    return remaining[: max(FINALISTS, math.ceil(len(remaining) / 2))]


def _is_settled(values: Sequence[float]) -> bool:
    """Whether a candidate is sure not to gain, because its times do not vary."""
    return values[0] == 0.0 or (is_exact(values) and values[0] <= PROMISING)


def _promising(state: Search, logs: Mapping[Candidate, list[float]]) -> list[Candidate]:
    """Who gained on average, the best first; of the others it is kept that they did not."""
    ranked = []
    for candidate, values in logs.items():
        trial = state.trials[candidate.name]
        if candidate in state.turns.refused:
            trial.fate = "refused"
        elif values and trial.fate != "slower":
            trial.fate = "no gain"
            if _mean(values) > PROMISING:
                ranked.append((_mean(values), candidate))
    ranked.sort(key=lambda item: -item[0])
    return [candidate for _, candidate in ranked[:FINALISTS]]


def _proof(state: Search, candidate: Candidate) -> bool:
    """Launch a candidate in pairs with the base until it is proven or given up."""
    base, trial = state.setting, state.trials[candidate.name]
    state.attempts += 1
    rate = attempt_rate(state.attempts, state.false_share)
    trial.fate, trial.proof = "unclear", None
    for gained in _pairs(state, base, (*base, candidate), rate):
        trial.proof = gained
        if gained.is_proven:
            trial.fate = "proven"
            if candidate not in state.proven:
                state.proven.append(candidate)
            state.total = gained if len(state.proven) == 1 else None
        elif gained.is_hopeless:
            trial.fate = "no gain"
    if trial.fate == "unclear":
        trial.fate = "refused" if candidate in state.turns.refused else "no gain"
    return trial.fate == "proven"


def _pairs(state: Search, base: Setting, setting: Setting, rate: float) -> Iterator[Gain]:
    """The gain at every look, until it is proven and precise, or hopeless.

    What was proven at a look stays so: later looks are given if they say it more precisely.
    """
    turns, logs = state.turns, list[float]()
    best: Gain | None = None
    base_first = True
    while len(logs) < LOOKS[-1]:
        # Two pairs at a time are in opposite order, so that a drift weighs on none.
        base_first = turns.random.random() < 0.5 if len(logs) % 2 == 0 else not base_first
        log = turns.pair(base, setting, base_first)
        if log is None:
            return
        logs.append(log)
        if is_look(logs):
            gained = gain(logs, rate)
            if best is None or not best.is_proven or best.low < gained.low:
                best = gained
                yield best
            if best.is_hopeless or (best.is_proven and best.is_precise):
                return


def _prove_total(state: Search) -> None:
    """The gain of several proven candidates together, over the plain program."""
    if len(state.proven) < 2:
        return
    state.attempts += 1
    rate = attempt_rate(state.attempts, state.false_share)
    for gained in _pairs(state, PLAIN, state.setting, rate):
        state.total = gained


def _leave_unclear(state: Search) -> None:
    """What is said of candidates when time is up: who was launched, but not enough, is unclear."""
    for trial in state.trials.values():
        if trial.candidate in state.turns.refused:
            trial.fate = "refused"
        elif trial.scouted_relative and trial.fate == "not reached":
            trial.fate = "unclear"


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else -math.inf
