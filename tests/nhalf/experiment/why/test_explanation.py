"""The search finds what was planted, accuses nobody else, and says nothing of equal ways."""

from __future__ import annotations

import math

import pytest

from nhalf.base.errors import FailedError
from nhalf.experiment.turns import LaunchFailed
from nhalf.experiment.why.explanation import Investigation
from nhalf.experiment.why.switch import turns_of
from tests.nhalf.experiment.why.plant import Planted, switches
from tests.nhalf.experiment.why.trials import KINDS, trial

LOG = math.log(1.5)


def exactly(program: Planted, number: int = 20) -> Investigation:
    """The search without noise."""
    investigation = Investigation(turns_of(program.launch, are_exact=True), switches(number))
    investigation.run()
    return investigation


def named(investigation: Investigation) -> list[set[int]]:
    return [set(proof.suspects) for proof in investigation.proofs]


@pytest.mark.parametrize("kind", KINDS)
def test_planted_causes_are_named_and_no_others(kind: str) -> None:
    trials = [trial(kind, seed) for seed in range(24)]
    assert sum(trial.is_right for trial in trials) >= 23
    assert sum(trial.is_wrong for trial in trials) == 0


@pytest.mark.full
@pytest.mark.parametrize("kind", KINDS)
def test_right_sets_and_wrong_accusations_of_thousands(kind: str) -> None:
    trials = [trial(kind, 1000 + seed) for seed in range(2000)]
    assert sum(trial.is_right for trial in trials) >= 0.95 * len(trials)
    assert sum(trial.is_wrong for trial in trials) <= 0.01 * len(trials)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("seed", range(20))
def test_exact_times_need_few_launches(kind: str, seed: int) -> None:
    exact = trial(kind, seed, noise=0.0)
    assert exact.is_right
    # A and B; five halvings for each cause; the cause alone, everything else, one member less.
    assert exact.investigation.turns.launches <= 2 + 2 * 5 + 6


def test_either_of_two_suffices() -> None:
    either = (frozenset([3]), frozenset([11]))
    assert named(exactly(Planted({}, noise=0, either=either, either_log=LOG))) == [{3}, {11}]


def test_three_that_only_act_together() -> None:
    program = Planted({frozenset([2, 9, 17]): LOG}, noise=0)
    investigation = exactly(program)
    assert named(investigation) == [{2, 9, 17}]
    assert investigation.proofs[0].is_joint


def test_what_adds_up_is_not_joint() -> None:
    program = Planted({frozenset([2]): LOG, frozenset([9]): LOG}, noise=0)
    assert not exactly(program).proofs[0].is_joint


def test_switches_that_only_run_together_are_one() -> None:
    program = Planted({frozenset([4]): LOG}, noise=0, needs={4: 5})
    (proof,) = exactly(program).proofs
    assert [set(member.switches) for member in proof.members] == [{4, 5}]


def test_a_cause_and_what_it_needs_to_run_far_apart() -> None:
    program = Planted({frozenset([15]): LOG}, noise=0, needs={15: 2})
    (proof,) = exactly(program).proofs
    assert set(proof.suspects) == {2, 15}


@pytest.mark.parametrize("number", [1, 2, 3])
def test_few_switches(number: int) -> None:
    program = Planted({frozenset([number - 1]): LOG}, noise=0)
    assert named(exactly(program, number)) == [{number - 1}]


def test_no_switch_is_no_difference() -> None:
    investigation = exactly(Planted({}, noise=0), 0)
    assert investigation.verdict == "equal"
    assert investigation.turns.launches == 1


def test_equal_ways_are_equal_and_a_change_below_the_least_is_none() -> None:
    assert exactly(Planted({}, noise=0)).verdict == "equal"
    assert exactly(Planted({frozenset([1]): math.log(1.01)}, noise=0)).verdict == "equal"


def test_equal_ways_with_little_noise_need_few_rounds() -> None:
    investigation = Investigation(turns_of(Planted({}, noise=0.01).launch), switches(5))
    investigation.run()
    assert investigation.verdict == "equal"
    assert investigation.turns.launches == 2 + 2 * 3


@pytest.mark.parametrize("side", ["A", "B"])
def test_a_side_that_does_not_run_is_an_error(side: str) -> None:
    def launch(mixture: frozenset[int], limit_s: float) -> float:
        if bool(mixture) == (side == "B"):
            raise LaunchFailed("exit code 3")
        return 1.0

    with pytest.raises(FailedError, match=f"{side} does not run: exit code 3"):
        Investigation(turns_of(launch), switches(3)).run()


def test_a_time_that_is_none_is_a_failure() -> None:
    for time_s in (0.0, math.nan, math.inf, -1.0):
        with pytest.raises(FailedError, match="A does not run: a launch took"):
            turns = turns_of(lambda mixture, limit_s, time_s=time_s: time_s)
            Investigation(turns, switches(3)).run()


def test_no_budget_leaves_what_is_known() -> None:
    investigation = Investigation(turns_of(Planted({}).launch, budget_s=-1.0), switches(3))
    investigation.run()
    assert investigation.verdict == "unfinished"
    assert "budget" in investigation.why_ended


def test_an_interruption_leaves_the_suspicion() -> None:
    program = Planted({frozenset([6]): LOG}, noise=0)

    def launch(mixture: frozenset[int], limit_s: float) -> float:
        if len(program.launches) == 4:
            raise KeyboardInterrupt
        return program.launch(mixture)

    investigation = Investigation(turns_of(launch, are_exact=True), switches(20))
    with pytest.raises(KeyboardInterrupt):
        investigation.run()
    assert investigation.verdict == "unfinished"
    assert 6 in investigation.suspicion.within
    assert len(investigation.suspicion.within) == 5
