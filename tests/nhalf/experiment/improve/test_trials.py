"""What became of a candidate follows from the last step that is over for it.

The test of pairs of launches, and how its error is spent.
"""

from __future__ import annotations

import math

import numpy as np
import pytest

from nhalf.experiment.improve.search import search, turns_of
from nhalf.experiment.improve.trials import (
    FALSE_SHARE,
    LEAST_GAIN,
    Stage,
    attempt_rate,
    gain,
    is_analysed,
)
from nhalf.statistics.paired import ANALYSES
from tests.nhalf.experiment.improve.simulated import Simulated, candidates


@pytest.mark.parametrize(
    ("stage", "scouted", "is_out_of_time", "is_proven", "fate"),
    [
        (Stage.WAITING, [], False, False, "not reached"),
        (Stage.WAITING, [], True, False, "not reached"),
        (Stage.WAITING, [0.1], True, False, "unclear"),
        (Stage.SCOUTED, [-0.1], False, False, "no gain"),
        (Stage.SCOUTED, [0.1], False, False, "not proven"),
        (Stage.SCOUTED, [0.1], False, True, "no further gain"),
        (Stage.SLOWER, [0.1], False, True, "slower"),
        (Stage.PROVING, [0.1], True, True, "unclear"),
        (Stage.PROVEN, [], True, True, "proven"),
    ],
)
def test_fates(
    stage: Stage, scouted: list[float], is_out_of_time: bool, is_proven: bool, fate: str
) -> None:
    a, b = candidates("a b")
    state = search(turns_of(Simulated({}), 1.0), [a, b])
    state.is_out_of_time = is_out_of_time
    state.proven = [b] if is_proven else []
    trial = state.trials["a"]
    trial.stage, trial.scouted_relative = stage, scouted
    assert state.fates["a"] == fate


def test_a_candidate_that_was_given_up_had_its_proof_and_one_that_fails_is_refused() -> None:
    a, b = candidates("a b")
    state = search(turns_of(Simulated({}), 1.0), [a, b])
    trial = state.trials["a"]
    trial.stage, trial.scouted_relative, trial.proof = Stage.GIVEN_UP, [0.1], gain([0.0], 0.05)
    assert state.fates["a"] == "no gain"
    state.turns.fails[a,] = "exit code 3"
    assert state.fates["a"] == "refused"
    assert not state.is_complete


def test_no_more_error_is_spent_than_there_is() -> None:
    assert sum(attempt_rate(number) for number in range(1, 1000)) < FALSE_SHARE


def test_one_pair_and_none_prove_nothing() -> None:
    assert (gain([], 0.05).pairs, gain([], 0.05).is_proven) == (0, False)
    one = gain([0.5], 0.05)
    assert (one.low, one.high, one.is_proven, one.is_hopeless) == (0.0, math.inf, False, False)


def test_times_that_do_not_vary_are_proven_by_two_pairs() -> None:
    assert is_analysed([0.3, 0.3])
    assert not is_analysed([0.3, 0.2])
    assert gain([0.3, 0.3], 0.05).is_proven
    assert gain([0.0, 0.0], 0.05).is_hopeless
    assert gain([-0.3, -0.3], 0.05).is_hopeless
    assert not gain([LEAST_GAIN, LEAST_GAIN], 0.05).is_proven


def test_the_interval_of_three_pairs_is_students() -> None:
    # Student's t of 2 degrees of freedom at 1 - 0.05 / 10 / 2 is 14.0890 (SciPy's stdtrit).
    three = gain([0.1, 0.2, 0.3], 0.05)
    assert math.log(three.factor) == pytest.approx(0.2)
    assert math.log(three.high) == pytest.approx(0.2 + 14.08904 * 0.1 / math.sqrt(3), rel=1e-5)


def test_pairs_that_gained_nothing_are_given_up() -> None:
    assert gain([0.01, -0.01, 0.0, 0.02, -0.02, 0.01, -0.01], 0.05).is_hopeless
    assert not gain([0.3, -0.2, 0.5], 0.05).is_hopeless


def test_analyses_of_noise_rarely_prove_anything() -> None:
    random = np.random.default_rng(1)
    false = 0
    for _ in range(500):
        logs = random.normal(LEAST_GAIN, 0.05, ANALYSES.pairs[-1])
        false += any(gain(logs[:pairs].tolist(), 0.05).is_proven for pairs in ANALYSES.pairs)
    assert false <= 0.05 * 500
