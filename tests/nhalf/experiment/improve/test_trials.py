"""What became of a candidate follows from the last step that is over for it."""

from __future__ import annotations

import pytest

from nhalf.experiment.improve.search import search, turns_of
from nhalf.experiment.improve.sequential import gain
from nhalf.experiment.improve.trials import Stage
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
