"""Every pair of runs is compared, checked and stacked, whatever either of them lacks."""

from __future__ import annotations

import math
from typing import Any

import polars as pl
from hypothesis import given, settings
from hypothesis import strategies as st

from nhalf.base.numbers import WIDEST
from nhalf.decide.changes import CurveRatio
from nhalf.decide.check.against import against_former
from nhalf.decide.compare import Sides, compare, compare_all, pair_libraries
from nhalf.decide.history.levels import curve_levels
from nhalf.facts.facts import Facts
from nhalf.statistics.same_state import same_states
from nhalf.store.keys import LAUNCH_COLUMNS, MEASUREMENT_COLUMNS
from tests.nhalf.synthetic import USUAL

LIBRARIES = ("mpich", "openmpi", "")
PATTERNS = ("pingpong", "bcast")
SIZES = (0, 8, 1024)
FLAGS_S = (None, (50e-9, 50e-9), (52e-9, 51e-9), (250e-9, 240e-9), (50e-9, 250e-9))
"""Flags before and after a point: missed, near, near, far, changed meanwhile."""
CLOCKS_HZ = (None, (1.98e9, 1.97e9), (1.6e9, 1.6e9), (1.98e9, 1.6e9))
"""The clock of the GPU before and after a point: none, two states, moved."""
WITNESSES = ("flag_before_s", "flag_after_s"), ("gpu_clock_before_hz", "gpu_clock_after_hz")
TIMES_S = (0.0, 1e-9, 1e-6, 1.1e-6, 2e-6, 1e3)


def visits() -> st.SearchStrategy[list[tuple[Any, ...]]]:
    """Points and launches of a run, each with its time and its flags."""
    visit = st.tuples(
        st.sampled_from(LIBRARIES), st.sampled_from(PATTERNS), st.sampled_from((2, 4)),
        st.sampled_from(SIZES), st.integers(0, 4), st.sampled_from(TIMES_S),
        st.sampled_from(FLAGS_S), st.sampled_from(CLOCKS_HZ),
    )  # fmt: skip
    return st.lists(visit, min_size=1, max_size=80, unique_by=lambda visit: visit[:5])


def full_visits() -> st.SearchStrategy[list[tuple[Any, ...]]]:
    """All launches of two curves, in states that are drawn."""
    state = st.tuples(st.sampled_from(FLAGS_S), st.sampled_from(CLOCKS_HZ))
    states = st.lists(state, min_size=5, max_size=5)
    return st.tuples(states, st.sampled_from(TIMES_S)).map(
        lambda drawn: [
            ("mpich", "pingpong", ranks, size, launch, drawn[1], *(state if ranks == 2 else ()))
            for ranks in (2, 4)
            for size in SIZES
            for launch, state in enumerate(drawn[0])
        ]
    )


def run_of(drawn: list[tuple[Any, ...]], name: str) -> Facts:
    """The facts of a run with these visits."""
    rows = []
    for mpi, pattern, ranks, size, launch, time_s, *ends in drawn:
        values = [
            {"name": name, "value": value}
            for names, witness in zip(WITNESSES, ends, strict=False)
            for name, value in zip(names, witness or (), strict=False)
        ]
        rows.append(
            {
                **USUAL,
                **{"run": name, "mpi": mpi or None, "pattern": pattern, "ranks": ranks},
                **{"bytes": size, "launch": launch, "position": 0, "bytes_per_time": size},
                **{"samples_s": [time_s] * 3, "values": values},
            }
        )
    return Facts(pl.DataFrame(rows, schema=MEASUREMENT_COLUMNS).lazy())


def agrees(curve: CurveRatio) -> None:
    """No verdict is contradicted by the interval that is shown beside it."""
    shown = curve.shown
    if curve.verdict in ("slower", "mixed"):
        assert 1 < shown.low <= shown.ratio <= shown.high <= WIDEST * shown.low
        assert shown.ratio > curve.threshold
    if curve.verdict == "faster":
        assert shown.low <= shown.ratio <= shown.high < 1
        assert shown.ratio < 1 / curve.threshold
    if curve.worse == "not worse":
        assert curve.ratio.high <= curve.threshold * (1 + 1e-6)
    if curve.worse == "unclear" and curve.verdict == "unclear":
        assert curve.doubt.reason
        assert curve.doubt.remedy


@given(a=visits() | full_visits(), b=visits() | full_visits())
@settings(max_examples=40, deadline=None)
def test_any_two_runs_are_compared_checked_and_stacked(a: Any, b: Any) -> None:
    before, now = run_of(a, "before"), run_of(b, "now")
    pairs = same_states(
        before.flagged, now.flagged, libraries := pair_libraries(before.flagged, now.flagged)
    )
    for side in (pairs.a, pairs.b):
        assert dict(side.schema) == LAUNCH_COLUMNS
    (comparison,) = compare_all([Sides(pairs.a, pairs.b, libraries, pairs.doubts)])
    for curve in comparison.curves:
        low, high = curve.ratio.low, curve.ratio.high
        assert math.isnan(low) or low <= curve.ratio.ratio <= high
        agrees(curve)
    against = against_former(now, before.flagged, 0.1)
    assert against.answers
    for answer in against.answers:
        assert answer.verdict != "unclear" or answer.points[0].reason
    stacked = pl.concat([before.flagged, now.flagged]).with_columns(family="mpi")
    for levels in curve_levels(stacked, ["before", "now"]):
        assert len(levels.ratio) == len(levels.runs)


def test_a_clock_of_the_gpu_explains_what_is_slower() -> None:
    """At another clock nothing is called slower; at the same one, or without any, it is."""

    def night(time_s: float, clocks_hz: tuple[float, float] | None, name: str) -> Facts:
        points = [(size, launch) for size in SIZES for launch in range(5)]
        drawn = [("x", "pingpong", 2, *point, time_s, None, clocks_hz) for point in points]
        return run_of(drawn, name)

    full, held = CLOCKS_HZ[1:3]
    accepted = night(1e-6, full, "accepted").flagged
    for clocks_hz, verdict in ((full, "missed"), (None, "missed"), (held, "unclear")):
        checked = against_former(night(2e-6, clocks_hz, "now"), accepted, 0.1)
        assert [answer.verdict for answer in checked.answers] == [verdict]
    reason = checked.answers[0].points[0].reason
    assert reason == "the GPU's clock went from 1975 to 1600 MHz between the runs"


def test_a_library_in_one_state_is_stacked_with_one_that_changed() -> None:
    """Curves that are divided by state have the columns of those that are not."""
    near, far = FLAGS_S[1], FLAGS_S[3]
    changing, steady = [near, far, near, far, near], [near] * 5
    drawn = [
        (mpi, "pingpong", 2, size, launch, 1e-6, flags_s)
        for mpi, states in (("mpich", changing), ("openmpi", steady))
        for size in SIZES
        for launch, flags_s in enumerate(states)
    ]
    run = run_of(drawn, "run").flagged
    pairs = same_states(run, run, [("mpich", "mpich"), ("openmpi", "openmpi")])
    assert pairs.a.equals(pairs.b)
    assert len(pairs.notes) == 1
    assert {curve.mpi for curve in compare(pairs.a, pairs.b).curves} == {"mpich", "openmpi"}
