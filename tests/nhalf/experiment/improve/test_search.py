"""Searches on simulated programs: false gains, power, intervals, budgets, refusals.

What a search says that it can prove, held against what it then proves.
"""

from __future__ import annotations

import math

import pytest

from nhalf.base.errors import FailedError
from nhalf.experiment.improve.change import PLAIN, Candidate, LaunchChange
from nhalf.experiment.improve.search import (
    MEDIAN_QUANTILE,
    Provable,
    first,
    least_factor,
    provable,
    run,
    search,
    turns_of,
    waves,
)
from nhalf.experiment.improve.trials import SearchState
from nhalf.experiment.turns import LaunchFailed, LaunchStopped, OutOfTime
from nhalf.present.improve import provable_text
from tests.nhalf.experiment.improve.simulated import Simulated, candidates

NOISES = {
    "quiet": {"noise": 0.01},
    "usual": {"noise": 0.05},
    "outliers": {"noise": 0.05, "outliers": 0.05},
    "states": {"noise": 0.02, "states": True},
    "drift": {"noise": 0.02, "drift": 0.002},
}
TEN = "a b c d e f g h i j"


def proven(state: SearchState) -> list[str]:
    return [candidate.name for candidate in state.proven]


def test_of_an_exact_program_a_few_launches_prove_the_gain() -> None:
    program = Simulated({"e": 0.5, "g": 1.05, "h": 2.0})
    state = program.searched(TEN)
    assert proven(state) == ["e"]
    assert state.total is not None
    assert state.total.factor == state.total.low == state.total.high == pytest.approx(2.0)
    assert state.fates["h"] == "slower"
    assert {state.fates[name] for name in "abcdfgij"} == {"no gain"}
    assert state.is_complete
    assert program.launches < 25


def test_an_exact_program_that_nothing_helps_takes_a_launch_for_each_candidate() -> None:
    program = Simulated({})
    state = program.searched(TEN)
    assert (proven(state), state.total, state.is_complete) == ([], None, True)
    assert program.launches == 2 + 10


def test_gains_below_one_percent_are_not_claimed() -> None:
    assert proven(Simulated({"a": 1 / 1.009}).searched("a b")) == []
    assert proven(Simulated({"a": 1 / 1.011}).searched("a b")) == ["a"]


def test_of_two_that_help_alike_the_one_expected_first_is_taken() -> None:
    assert proven(Simulated({"b": 0.5, "d": 0.499, "e": 0.5}).searched(TEN))[0] == "b"
    assert proven(Simulated({"b": 0.5, "d": 0.4955, "e": 0.499}).searched(TEN))[0] == "b"
    assert proven(Simulated({"b": 0.5, "d": 0.4}).searched(TEN))[0] == "d"


def test_a_brake_is_released_before_what_hides_it_is_set() -> None:
    """Without its setting the program is faster; another setting in its place is a bit more so."""
    brake = Candidate("without SIZE", "", "", LaunchChange({"SIZE": None}))
    hides = Candidate("SIZE=9", "", "", LaunchChange({"SIZE": "9"}))
    weak = Candidate("without WEAK", "", "", LaunchChange({"WEAK": None}))
    time_s = {"SIZE=9": 1.2, "without SIZE": 1.5, "without WEAK": 2.7}

    def launched(setting: tuple[Candidate, ...], limit_s: float) -> float:
        return time_s[setting[-1].name] if setting else 3.0

    for every in ([hides, weak, brake], [hides, weak]):
        state = search(turns_of(launched, math.inf, lambda: 0.0), every)
        run(state)
        assert proven(state) == ["without SIZE", "SIZE=9"][-len(every) + 1 :]
        assert state.total is not None and state.total.factor == pytest.approx(2.5)


def test_two_that_help_are_proven_together() -> None:
    state = Simulated({"b": 0.5, "d": 0.8}, noise=0.01).searched(TEN)
    assert proven(state) == ["b", "d"]
    assert state.total is not None
    assert state.total.low <= 2.5 <= state.total.high


def test_without_time_for_all_together_the_gain_is_that_of_the_steps() -> None:
    program = Simulated({"b": 0.5, "d": 0.8}, noise=0.01)
    state = search(turns_of(program, 1e6, lambda: program.now_s), candidates(TEN))

    def measured(setting: tuple[Candidate, ...], limit_s: float) -> float:
        if len(state.proven) == 2 and setting == ():
            raise OutOfTime
        return program(setting, limit_s)

    state.turns.launch = measured
    run(state)
    assert proven(state) == ["b", "d"]
    assert state.is_out_of_time
    assert state.total is not None
    assert state.total.low <= 2.5 <= state.total.high
    assert state.total.pairs == sum(gain.pairs for gain in state.gains)


@pytest.mark.parametrize("kind", NOISES)
def test_false_gains_are_rare(kind: str) -> None:
    searches = [Simulated({}, seed=seed, **NOISES[kind]).searched(TEN) for seed in range(30)]
    assert sum(bool(state.proven) for state in searches) <= 1


@pytest.mark.full
@pytest.mark.parametrize("kind", NOISES)
def test_the_rate_of_false_gains_is_kept(kind: str) -> None:
    searches = [Simulated({}, seed=seed, **NOISES[kind]).searched(TEN) for seed in range(400)]
    assert sum(bool(state.proven) for state in searches) <= 0.05 * 400


@pytest.mark.parametrize("kind", NOISES)
def test_a_brake_of_a_third_is_found_and_its_interval_holds(kind: str) -> None:
    searches = [
        Simulated({"g": 0.75}, seed=seed, **NOISES[kind]).searched(TEN) for seed in range(10)
    ]
    assert sum(proven(state) == ["g"] for state in searches) >= 9
    totals = [state.total for state in searches if state.total]
    assert sum(total.low <= 1 / 0.75 <= total.high for total in totals) >= len(totals) - 1


def test_what_fails_or_differs_is_refused_and_named() -> None:
    problems = {"a": "exit code 1: no such transport", "b": "its output differs"}
    state = Simulated({"a": 0.5, "b": 0.5, "c": 0.6}, problems=problems).searched("a b c")
    assert proven(state) == ["c"]
    refused = {candidate.name: why for candidate, why in state.refused.items()}
    assert refused == problems
    assert {state.fates[name] for name in "ab"} == {"refused"}


def test_a_candidate_that_is_ended_for_its_slowness_takes_no_more_than_that() -> None:
    program = Simulated({"a": 1000.0, "b": 0.5})
    state = program.searched("a b")
    assert proven(state) == ["b"]
    assert state.fates["a"] == "refused"
    assert program.now_s < 60


@pytest.mark.parametrize("budget_s", [0.0, 1.0])
def test_a_budget_that_the_plain_program_exceeds_is_an_error(budget_s: float) -> None:
    with pytest.raises(FailedError, match="more time with --budget"):
        Simulated({}).searched("a", budget_s)


@pytest.mark.parametrize("budget_s", [3.0, 5.0, 13.0])
def test_a_short_budget_is_kept_and_said(budget_s: float) -> None:
    program = Simulated({"a": 0.5}, noise=0.05)
    state = program.searched("a b c", budget_s)
    assert not state.is_complete
    assert proven(state) == []
    assert program.now_s <= budget_s + 3
    assert all(fate in ("not reached", "unclear", "no gain") for fate in state.fates.values())


def test_without_time_to_scout_the_expected_ones_are_tried_first() -> None:
    state = Simulated({"a": 0.5}).searched("a b c d e", 14.0)
    assert proven(state) == ["a"]
    assert state.fates["e"] == "not reached"


def test_of_many_candidates_the_expected_ones_are_proven_before_others_are_launched() -> None:
    many = " ".join(f"c{number:02}" for number in range(40))
    states = [Simulated({"c01": 0.6}, noise=0.15, seed=s).searched(many) for s in range(10)]
    assert sum(proven(state) == ["c01"] for state in states) >= 9
    false = [Simulated({}, noise=0.05, seed=seed).searched(many) for seed in range(20)]
    assert sum(bool(state.proven) for state in false) <= 1


def test_no_candidates() -> None:
    state = Simulated({}).searched("")
    assert (state.proven, state.is_complete, len(state.turns.times_s[PLAIN])) == ([], True, 1)


@pytest.mark.parametrize("done", [LaunchFailed("exit code 1"), math.nan, 0.0])
def test_a_program_that_does_not_run_is_an_error(done: float | LaunchFailed) -> None:
    def launched(setting: tuple[Candidate, ...], limit_s: float) -> float:
        if isinstance(done, LaunchFailed):
            raise done
        return done

    turns = turns_of(launched, 60.0, lambda: 0.0)
    with pytest.raises(FailedError, match="as it is does not run"):
        run(search(turns, candidates("a")))


def test_a_base_that_stops_running_is_an_error_and_keeps_what_was_learned() -> None:
    program = Simulated({"a": 0.5}, noise=0.01)

    def breaks(setting: tuple, limit_s: float) -> float:
        done = program(setting, limit_s)
        if program.launches < 8:
            return done
        raise LaunchFailed("disk full")

    state = search(turns_of(breaks, 600.0, lambda: program.now_s), candidates("a b"))
    with pytest.raises(FailedError, match="does not run any more"):
        run(state)
    assert state.trials["a"].scouted_relative
    assert state.total is None


def test_a_launch_of_the_base_that_stalls_does_not_end_the_search() -> None:
    program = Simulated({"a": 0.5}, noise=0.01)

    def stalls(setting: tuple, limit_s: float) -> float:
        time_s = program(setting, math.inf) * (20 if program.launches == 7 else 1)
        if time_s <= limit_s:
            return time_s
        raise LaunchFailed("no end")

    state = search(turns_of(stalls, 600.0, lambda: program.now_s), candidates("a"))
    run(state)
    assert proven(state) == ["a"]


def stalling(at: range, factor: float) -> tuple[Simulated, SearchState]:
    """A search of a program that takes much longer in some of its launches."""
    program = Simulated({"a": 0.5}, noise=0.01)

    def stalls(setting: tuple[Candidate, ...], limit_s: float) -> float:
        usual_s = program(setting, math.inf)
        time_s = usual_s * (factor if program.launches in at else 1.0)
        program.now_s += min(time_s, limit_s) - usual_s
        if time_s > limit_s:
            raise LaunchStopped("no end")
        return time_s

    return program, search(turns_of(stalls, 600.0, lambda: program.now_s), candidates("a b"))


@pytest.mark.parametrize("launch", range(5, 13))
def test_one_launch_that_stalls_refuses_no_candidate(launch: int) -> None:
    """The plain program and both candidates have ended before."""
    _, state = stalling(range(launch, launch + 1), 20.0)
    run(state)
    assert proven(state) == ["a"]
    assert state.refused == {}


def test_a_base_that_does_not_end_in_time_ends_the_search_with_what_was_learned() -> None:
    program, state = stalling(range(8, 1000), 1000.0)
    run(state)
    assert state.is_out_of_time
    assert not state.is_complete
    assert state.trials["a"].scouted_relative
    assert program.now_s < 610.0


def test_candidates_that_exclude_each_other_are_scouted_before_one_is_proven() -> None:
    names = [f"c{number:02}" for number in range(60)]
    change = LaunchChange({"same": "1"})
    alike = [Candidate(name, name, name, change) for name in names]
    assert [len(wave) for wave in waves(alike)] == [40, 20]
    assert [len(wave) for wave in waves(alike[:25])] == [25]
    assert [len(wave) for wave in waves([*candidates("a b"), *alike[:25]])] == [27]
    assert [len(wave) for wave in waves(candidates(" ".join(names[:25])))] == [10, 10, 5]
    assert list(waves([])) == []
    program = Simulated({"c03": 0.9, "c14": 0.5, "c55": 0.4})
    state = search(turns_of(program, 1e6, lambda: program.now_s), alike)
    run(state)
    assert proven(state) == ["c14"]
    assert {*state.fates.values()} >= {"excluded", "no further gain"}
    assert state.fates["c55"] == "excluded"
    assert state.is_complete


def bounded(name: str, upper_share: float, expected_share: float = 0.0) -> Candidate:
    return Candidate(name, name, name, LaunchChange({name: "1"}), upper_share, expected_share)


def test_what_can_save_little_comes_after_what_can_save_much_however_lucky_it_was() -> None:
    """In their first launches those with a bound of 2 % are faster than with the real gain."""
    lucky = [bounded(f"c{number}", 0.02) for number in range(8)]
    real = bounded("real", 0.9)
    launches: dict[Candidate, int] = {}

    def launched(setting: tuple[Candidate, ...], limit_s: float) -> float:
        time_s = 1.6 if real in setting else 2.0
        for candidate in {*setting} - {real}:
            launches[candidate] = launches.get(candidate, 0) + 1
            time_s *= 0.6 + 1e-6 * launches[candidate] if launches[candidate] <= 3 else 1.0
        return time_s

    state = search(turns_of(launched, math.inf, lambda: 0.0), [*lucky, real])
    run(state)
    assert proven(state) == ["real"]


def test_what_is_expected_to_save_far_less_is_scouted_later() -> None:
    shares = [0.5, 0.1, 0.06, 0.04, 0.03, 0.002, 0.001]
    several = [bounded(f"c{number}", 1.0, share) for number, share in enumerate(shares)]
    assert [len(wave) for wave in waves(several)] == [3, 2, 2]
    change = LaunchChange({"same": "1"})
    alike = [Candidate(f"c{n}", "", "", change, 1.0, 0.305 - 0.01 * n) for n in range(30)]
    assert [len(wave) for wave in waves(alike)] == [28, 2]
    assert [len(wave) for wave in waves(candidates("a b"))] == [2]


def test_candidates_that_change_the_same_are_not_combined() -> None:
    program = Simulated({"a": 0.5, "b": 0.6})
    first, second = candidates("a b")
    both = [first, type(second)("b", "b", "b", first.change)]
    state = search(turns_of(program, 600.0, lambda: program.now_s), both)
    run(state)
    assert proven(state) == ["a"]


PAIRS = 75


def spread_of(noise: float) -> float:
    return noise * math.sqrt(2) * MEDIAN_QUANTILE


def proven_share(noise: float, factor: float) -> float:
    searches = 40
    programs = (Simulated({"c": 1 / factor}, noise=noise, seed=seed) for seed in range(searches))
    return sum(bool(program.searched(TEN).proven) for program in programs) / searches


@pytest.mark.parametrize("noise", [0.01, 0.05, 0.15])
def test_what_can_be_proven_mostly_is_and_a_third_of_it_seldom(noise: float) -> None:
    factor = least_factor(spread_of(noise), PAIRS, 10)
    assert factor is not None
    assert proven_share(noise, factor) >= 0.6
    assert proven_share(noise, factor ** (1 / 3)) <= 0.5


def test_less_noise_and_more_pairs_prove_less_and_one_candidate_needs_no_scouts() -> None:
    assert [least_factor(0.05, pairs, 10) for pairs in (0, 2)] == [None, None]
    factors = [least_factor(0.05, pairs, 10) or 0.0 for pairs in (3, 7, 20, 80)]
    assert factors == sorted(factors, reverse=True)
    single = least_factor(0.05, 80, 1)
    assert single is not None
    assert single < factors[-1]
    assert least_factor(0.0, 0, 10) == pytest.approx(1.01)


def possible_of(noise: float, budget_s: float, plain_s: float = 2.0) -> tuple[Provable, int]:
    program = Simulated({}, noise=noise, plain_s=plain_s)
    turns = turns_of(program, budget_s, lambda: program.now_s, 1)
    first(turns)
    return provable(search(turns, candidates(TEN))), program.launches


def test_the_noise_is_measured_where_there_is_time_for_it() -> None:
    possible, launches = possible_of(0.05, 600.0)
    assert launches == 4
    assert possible.spread_share == pytest.approx(spread_of(0.05), rel=0.9)
    assert possible.pairs == pytest.approx(74, abs=2)
    text = provable_text(possible)
    assert "at this load: the 10 min" in text
    assert f"(up to {possible.pairs} pairs of launches)" in text


def test_without_time_to_launch_twice_only_the_pairs_are_known() -> None:
    possible, launches = possible_of(0.05, 30.0)
    assert (launches, possible.spread_share, possible.factor) == (1, None, None)
    assert "suffice for a proof of up to 3 pairs of launches" in provable_text(possible)


def test_a_budget_for_which_nothing_can_be_proven_says_so() -> None:
    possible, _ = possible_of(0.05, 10.0)
    assert possible.pairs < 3
    text = provable_text(possible)
    assert "a proof takes 3 or more: give a larger --budget" in text


def test_of_times_that_do_not_vary_all_can_be_proven() -> None:
    possible, launches = possible_of(0.0, 600.0)
    assert (launches, possible.spread_share) == (2, 0.0)
    assert possible.factor == pytest.approx(1.01)
    assert "can prove any gain above 1 %" in provable_text(possible)
