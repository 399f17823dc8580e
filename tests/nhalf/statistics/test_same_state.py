"""Runs of a machine that changes between two states: only equal states are compared.

Times of a machine in two states, taken apart.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.statistics.intervals import Floats
from nhalf.statistics.same_state import in_one_state, same_state, same_states
from nhalf.store.keys import FLAGGED_COLUMNS, POINT_COLUMNS

NEAR, FAR = 50e-9, 200e-9
SIZES = (0, 8, 64)


def medians(flags_s: Sequence[float | None], slower: float = 1.0, **other: Any) -> pl.DataFrame:
    """A launch per flag; messages of far cores take twice as long."""
    text = {"transport": "mpi", "mpi": "mpich", "pattern": "pingpong", "algorithm": "native"}
    point = {**text, "ranks": 2, "placement": "cores", "axes": "", **other}
    rows = [
        {
            **{name: point.get(name) for name in POINT_COLUMNS if name != "bytes"},
            **{"bytes": size, "launch": launch, "flag_s": flag_s, "gpu_clock_hz": None},
            "median_s": 1e-6 * slower * (2 if flag_s and flag_s > 1e-7 else 1),
            **{"run": "run", "lowest_s": 1e-6, "samples": 9},
        }
        for launch, flag_s in enumerate(flags_s)
        for size in SIZES
    ]
    return pl.DataFrame(rows, schema=FLAGGED_COLUMNS)


def times(frame: pl.DataFrame) -> set[float]:
    return set(frame["median_s"])


def test_like_is_paired_with_like() -> None:
    found = same_state(medians([NEAR, FAR, NEAR, NEAR]), medians([FAR, FAR, NEAR, NEAR], 1.25))
    for size in SIZES:
        a, b = (one.filter(pl.col("bytes") == size).sort("launch") for one in (found.a, found.b))
        assert a["launch"].to_list() == b["launch"].to_list() == [0, 1, 2]
        assert (b["median_s"] / a["median_s"]).to_list() == pytest.approx([1.25] * 3)
    assert found.lost == ()
    assert found.notes == (
        "the machine changed between 2 states: a flag between two cores took 50 ns in 62 %, "
        "200 ns in 38 % of the measurements; only equal states are compared",
    )


def test_a_note_says_which_libraries_it_is_about() -> None:
    half, most = [NEAR, FAR] * 4, [NEAR] * 7 + [FAR]
    flags_by_library = {"a": half, "b": half, "c": most, "d": [NEAR] * 8}
    runs = pl.concat([medians(flags, mpi=mpi) for mpi, flags in flags_by_library.items()])

    def notes(*libraries: str) -> list[str]:
        found = same_states(runs, runs, [(mpi, mpi) for mpi in libraries])
        return [note.partition(" a flag")[0] for note in found.notes]

    assert notes("a", "b") == ["the machine changed between 2 states:"]
    assert notes("a", "c") == [f"{mpi}: the machine changed between 2 states:" for mpi in "ac"]
    assert notes("a", "b", "d") == ["a, b: the machine changed between 2 states:"]


def test_three_states_are_told_apart() -> None:
    flags_s = [20e-9, NEAR, FAR, NEAR * 1.2]
    found = same_state(medians(flags_s), medians(flags_s[::-1]))
    assert "3 states" in found.notes[0]
    assert found.a["launch"].n_unique() == 4


def test_a_rare_state_is_called_rare() -> None:
    most = [FAR] * 48 + [20e-9] * 2
    (note,) = same_state(medians(most), medians([FAR] * 50)).notes
    assert "200 ns in 98 %, 20 ns in 2 % of the measurements" in note


def test_without_a_state_in_common_the_curve_is_lost() -> None:
    found = same_state(medians([NEAR] * 5), medians([FAR] * 5))
    assert found.a.is_empty()
    assert found.b.is_empty()
    assert [one["pattern"] for one in found.lost] == ["pingpong"]


def test_one_launch_in_common_is_none() -> None:
    found = same_state(medians([NEAR] * 5), medians([FAR, FAR, FAR, NEAR]))
    assert len(found.lost) == 1


@pytest.mark.parametrize("flags_s", [[NEAR] * 4, [None] * 4, [NEAR, NEAR * 1.3, NEAR, NEAR]])
def test_one_state_and_no_flags_leave_all_as_it_is(flags_s: list[float | None]) -> None:
    given = medians(flags_s)
    found = same_state(given, medians([NEAR] * 3))
    assert found.a.equals(given.drop("flag_s", "gpu_clock_hz"))
    assert (found.notes, found.lost) == ((), ())


def test_points_during_which_the_machine_changed_are_left_out() -> None:
    found = same_state(medians([NEAR, math.nan, NEAR, NEAR]), medians([NEAR, NEAR, FAR, NEAR]))
    assert len(found.a) == 3 * len(SIZES)


def test_points_without_a_flag_are_paired_with_each_other() -> None:
    """More ranks than cores have no flag, whatever the others of a run have."""
    crowded = medians([None] * 4, ranks=4)
    found = same_state(
        pl.concat([medians([NEAR, FAR, NEAR]), crowded]),
        pl.concat([medians([FAR, NEAR, NEAR]), crowded]),
    )
    assert found.lost == ()
    for side in (found.a, found.b):
        assert len(side.filter(pl.col("ranks") == 4)) == len(crowded)


def test_a_point_whose_flag_was_missed_is_left_out() -> None:
    found = same_state(medians([NEAR, None, FAR, NEAR]), medians([NEAR, None, FAR, NEAR]))
    assert found.a["launch"].n_unique() == 3


def test_curves_that_one_lacks_are_not_compared() -> None:
    both = pl.concat([medians([NEAR] * 3), medians([NEAR] * 3, pattern="exchange")])
    found = same_state(both, medians([NEAR] * 3))
    assert set(found.a["pattern"]) == {"pingpong"}
    assert found.lost == ()


def test_where_most_flags_were_missed_all_stays_as_it_is() -> None:
    given = medians([NEAR, None, None, FAR, None])
    assert same_state(given, given).a.equals(given.drop("flag_s", "gpu_clock_hz"))


FULL, HELD = 1.98e9, 1.59e9
"""Clocks of a GPU, and of one that is held down."""


def clocked(clocks_hz: Sequence[float | None], slower: float = 1.0, **other: Any) -> pl.DataFrame:
    """A launch per clock, which passed no flags."""
    clock_by_launch = dict(enumerate(clocks_hz))
    rows = medians([None] * len(clocks_hz), slower, **other)
    clock = pl.col("launch").replace_strict(clock_by_launch, return_dtype=pl.Float64)
    return rows.with_columns(gpu_clock_hz=clock)


def test_launches_at_one_clock_of_a_gpu_are_paired() -> None:
    before, now = clocked([FULL, HELD, FULL, FULL]), clocked([HELD, FULL, FULL, FULL], 1.25)
    at_both = same_state(before, now)
    for size in SIZES:
        a, b = (side.filter(pl.col("bytes") == size) for side in (at_both.a, at_both.b))
        assert a["launch"].sort().to_list() == b["launch"].sort().to_list() == [0, 1, 2, 3]
    assert (at_both.lost, at_both.doubts) == ((), ())
    assert at_both.notes == (
        "the GPU's clock was 1980 MHz in 75 %, 1590 MHz in 25 % of the measurements; only equal "
        "clocks are compared",
    )


def test_runs_at_different_clocks_of_a_gpu_are_not_compared() -> None:
    """Their messages from memory of the host are."""
    host = medians([None] * 5, axes="memory=host")
    before = pl.concat([clocked([FULL] * 4 + [FULL * 1.02], axes="memory=device"), host])
    now = pl.concat([clocked([HELD, math.nan, HELD, HELD, HELD], axes="memory=device"), host])
    apart = same_state(before, now)
    assert [curve["axes"] for curve in apart.lost] == ["memory=device"]
    doubt = apart.lost[0]["doubt"]
    assert doubt.reason == "the GPU's clock went from 1980 to 1590 MHz between the runs"
    assert "--lock-gpu-clocks" in doubt.remedy
    assert set(apart.a["axes"]) == set(apart.b["axes"]) == {"memory=host"}
    assert apart.doubts == ()


def test_flags_and_clocks_tell_states_of_two_runs_together() -> None:
    def at_clocks(*clocks_hz: float) -> pl.DataFrame:
        rows = medians([NEAR, FAR] * len(clocks_hz))
        clock = pl.col("launch").replace_strict(dict(enumerate(np.repeat(clocks_hz, 2))))
        slower = pl.when(clock == HELD).then(3.0).otherwise(1.0)
        return rows.with_columns(gpu_clock_hz=clock, median_s=pl.col("median_s") * slower)

    paired = same_state(at_clocks(FULL, FULL, FULL, HELD), at_clocks(HELD, FULL, FULL, FULL))
    assert paired.a["launch"].n_unique() == 8
    on = ["bytes", "launch"]
    assert paired.a.sort(on)["median_s"].equals(paired.b.sort(on)["median_s"])
    assert [note.partition(":")[0].partition(" in ")[0] for note in paired.notes] == [
        "the machine changed between 2 states",
        "the GPU's clock was 1980 MHz",
    ]


def test_a_clock_that_moved_or_that_one_run_does_not_tell() -> None:
    steady, moved = clocked([FULL] * 4), clocked([FULL, math.nan, None, FULL])
    (row,) = same_state(steady, moved).doubts
    assert "moved, or is unknown, in 50 % of the measurements" in row["doubt"].reason
    untold = same_state(steady, clocked([None] * 4))
    assert (untold.lost, untold.doubts, len(untold.a)) == ((), (), len(steady))
    assert "one of the runs does not tell the GPU's clock" in untold.notes[0]
    assert same_state(clocked([None] * 4), clocked([None] * 4)).notes == ()


def test_an_imported_side_is_compared_as_it_is() -> None:
    """Nobody saw the state of its machine; that of the measured side changes nothing."""
    old, new = medians([None] * 6), medians([NEAR, FAR, NEAR, math.nan, NEAR, FAR])
    assert len(same_state(old, new).doubts) == 1
    apart = same_state(old, new, imported=["old"])
    assert (apart.doubts, apart.lost) == ((), ())
    assert len(apart.b) == len(new)
    assert "the state of the machine of old is unknown" in apart.notes[0]


FAST = np.array([0.12, 0.2, 1.2, 20.0])
SLOW = FAST * np.array([2.8, 3.0, 2.4, 1.9])


def noisy(rows: Floats, spread: float = 0.02) -> Floats:
    return rows * np.exp(spread * np.random.default_rng(1).standard_normal(rows.shape))


@pytest.mark.parametrize(
    "rows",
    [
        np.empty((0, 4)),
        np.full((1, 4), 1.0),
        np.array([[1.0], [3.0]]),
        np.full((5, 4), 2.0),
        np.array([[np.nan], [np.nan], [np.nan]]),
        noisy(np.tile(FAST, (5, 1)), 0.05),
    ],
    ids=["nothing", "one launch", "two launches", "all equal", "no times", "one state"],
)
def test_without_two_states_times_stay_as_they_are(rows: Floats) -> None:
    assert in_one_state(rows) is rows


def test_mostly_fast_keeps_the_fast_times() -> None:
    rows = noisy(np.array([FAST, FAST, SLOW, FAST, FAST]))
    rows[1, 2:] = SLOW[2:]
    kept = in_one_state(rows)
    assert np.isnan(kept[2]).all()
    assert np.isnan(kept[1]).tolist() == [False, False, True, True]
    assert np.nanmedian(kept, axis=0) == pytest.approx(FAST, rel=0.05)


def test_mostly_slow_keeps_the_slow_times() -> None:
    rows = noisy(np.array([SLOW, SLOW, FAST, SLOW, SLOW]))
    rows[3, :2] = FAST[:2]
    kept = in_one_state(rows)
    assert np.isnan(kept[2]).all()
    assert np.isnan(kept[3]).tolist() == [True, True, False, False]
    assert np.nanmedian(kept, axis=0) == pytest.approx(SLOW, rel=0.05)


def test_mostly_slow_without_a_slow_launch_keeps_the_fast_times() -> None:
    rows = noisy(np.tile(SLOW, (4, 1)))
    for launch in range(4):
        rows[launch, launch] = FAST[launch]
    assert np.nanmedian(in_one_state(rows), axis=0) == pytest.approx(FAST, rel=0.05)


def test_a_hiccup_is_no_state() -> None:
    rows = noisy(np.tile(FAST, (5, 1)))
    rows[2, 1] *= 30
    assert in_one_state(rows) is rows


def test_every_size_keeps_a_time_where_launches_have_gaps() -> None:
    rows = noisy(np.array([SLOW, FAST, SLOW, SLOW, SLOW]))
    rows[[0, 2, 3, 4], 3] = np.nan
    assert np.isfinite(in_one_state(rows)).any(axis=0).all()


def test_three_launches_are_enough() -> None:
    kept = in_one_state(np.array([FAST, FAST, SLOW]))
    assert np.isnan(kept).any(axis=1).tolist() == [False, False, True]


def test_a_launch_without_times_hides_no_state() -> None:
    kept = in_one_state(np.array([FAST, np.full(4, np.nan), SLOW, FAST]))
    assert np.isnan(kept).all(axis=1).tolist() == [False, True, True, False]


def test_a_quarter_more_is_the_same_state() -> None:
    kept = in_one_state(np.array([[1.0], [1.25], [1.0], [3.0], [3.0]]))
    assert np.isnan(kept[:, 0]).tolist() == [False, False, False, True, True]


@pytest.mark.parametrize("fast", [1, 9])
def test_a_tenth_is_a_disturbance(fast: int) -> None:
    rows = np.array([[1.0]] * fast + [[3.0]] * (10 - fast))
    assert in_one_state(rows) is rows


def test_a_slow_launch_may_have_been_fast_once_in_ten_sizes() -> None:
    rows = np.full((3, 10), 3.0)
    rows[0, 0] = 1.0
    rows[1, :5] = 1.0
    rows[2, 5:] = 1.0
    assert np.isfinite(in_one_state(rows)[0, 1:]).all()


def test_of_halves_the_fast_one_stays() -> None:
    kept = in_one_state(np.array([FAST, SLOW, FAST, SLOW]))
    assert np.isnan(kept).all(axis=1).tolist() == [False, True, False, True]


def test_a_size_whose_times_agree_with_neither_state_keeps_all() -> None:
    rows = np.full((3, 4), 3.0)
    rows[0, 3] = np.nan
    rows[1, 3] = 1.0
    rows[2, :3] = 1.0
    assert np.isfinite(in_one_state(rows)[1:, 3]).all()
