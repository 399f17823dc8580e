"""Which receives a wait completes: beside one wait after another."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.facts.program.operations import CallForm, Calls, completed_receives

FORMS = (
    CallForm("MPI_Irecv", "received", "post"),
    CallForm("MPI_Wait", "waiting", "wait"),
    CallForm("MPI_Send", "sent", "send"),
)
EARLY_S = 1e-9


def one_by_one(calls: Calls) -> dict[int, list[int]]:
    """Receives in the order of their ends: each is completed by the first wait from the last one on
    that does not end before it, nor stands before it and ends with it.
    """
    end_s = calls.end_s.tolist()
    received, waits = (
        sorted(np.flatnonzero(calls.form == form).tolist(), key=end_s.__getitem__)
        for form in (0, 1)
    )
    completed: dict[int, list[int]] = {}
    for place in received:
        while waits and (
            end_s[waits[0]] < end_s[place] - EARLY_S
            or (waits[0] < place and end_s[waits[0]] <= end_s[place])
        ):
            waits.pop(0)
        if waits:
            completed.setdefault(waits[0], []).append(place)
    return completed


@pytest.mark.parametrize("seed", range(5))
def test_calls_at_random_that_end_together(seed: int) -> None:
    draws = np.random.default_rng(seed)
    for _ in range(400):
        count = draws.integers(0, 14)
        start_s = np.sort(draws.integers(0, 8, count)).astype(float)
        end_s = start_s + draws.integers(0, 4, count) + draws.choice([0, 1e-10, -1e-10], count)
        calls = Calls(FORMS, draws.integers(0, len(FORMS), count), start_s, end_s)
        assert completed_receives(calls).by_wait() == one_by_one(calls)
