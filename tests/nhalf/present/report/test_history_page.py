"""Levels over time are drawn in their own range, without intervals that are unknown."""

from __future__ import annotations

import numpy as np

from nhalf.decide.history.history import CurveHistory, History
from nhalf.decide.history.levels import Levels
from nhalf.present.report import history_page as charts

RUNS = ("monday", "tuesday")
HOUR_S = 3600.0


def rows(low: tuple[float, float], high: tuple[float, float]) -> list[dict[str, object]]:
    curve = {"pattern": "pingpong", "mpi": "mpich", "transport": "mpi"}
    ratio = np.array([1.0, 1.2])
    levels = Levels(
        curve, (8,), RUNS, ("mpich",) * 2, (5, 5), ratio, np.array(low), np.array(high),
        float("nan"), np.full(2, np.nan), np.full(2, np.nan), np.zeros(2),
    )  # fmt: skip
    started_s = {run: 1.7e9 + HOUR_S * place for place, run in enumerate(RUNS)}
    curve_history = CurveHistory(levels, (), None)
    history = History(started_s, (curve_history,), 0.01, None)  # type: ignore[arg-type]
    return charts._rows("pingpong", curve_history, history)


def test_an_interval_that_says_nothing_is_not_drawn() -> None:
    first, second = rows((1e-3, 1.1), (2800.0, 1.3))
    assert (first["low"], first["high"]) == (None, None)
    assert (second["low"], second["high"]) == (1.1, 1.3)


def test_a_wide_one_is_cut_to_the_range_of_the_levels() -> None:
    first, second = rows((0.5, 1.19), (1.9, 1.21))
    assert (first["low"], first["high"]) == (0.8, 1.4)
    assert (second["low"], second["high"]) == (1.19, 1.21)


def test_moments_have_their_day() -> None:
    assert all("%b" in charts.TIMES[unit] for unit in ("seconds", "minutes", "hours", "date"))
