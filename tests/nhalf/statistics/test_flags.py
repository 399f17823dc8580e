"""States of a machine that flags between two cores tell apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import polars as pl
import pytest

from nhalf.statistics.flags import borders, with_states
from nhalf.statistics.summary import flagged_medians, launch_medians, summarise, visits
from nhalf.store.schema import POINT_COLUMNS
from tests.nhalf.synthetic import build_measurements

NEAR, FAR = 55e-9, 290e-9


def launches(flags_s: Sequence[Sequence[float | None]], **point: Any) -> pl.DataFrame:
    """A row per point (by size) and launch, with what its flag took."""
    text = {name: point.get(name, "") for name in POINT_COLUMNS if name not in ("bytes", "ranks")}
    rows = [
        {"run": "run", **text, "ranks": 2, "bytes": size, "launch": launch, "flag_s": flag_s}
        for size, row in enumerate(flags_s)
        for launch, flag_s in enumerate(row)
    ]
    return pl.DataFrame(rows, schema_overrides={"flag_s": pl.Float64})


def counted(frame: pl.DataFrame) -> list[list[bool]]:
    groups = frame.group_by("bytes", maintain_order=True).agg("counts")
    counts: list[list[bool]] = groups["counts"].to_list()
    return counts


def test_one_state_has_no_border_though_flags_spread() -> None:
    flags_s = np.random.default_rng(1).lognormal(math.log(60e-9), 0.1, 2000)
    assert borders(pl.Series(flags_s)) == []


def test_few_flags_between_two_states_are_no_bridge() -> None:
    random = np.random.default_rng(1)
    near, far = (random.lognormal(math.log(flag), 0.05, 500) for flag in (NEAR, FAR))
    between = np.linspace(60e-9, 280e-9, 15)
    (border_s,) = borders(pl.Series(np.concatenate([near, between, far])))
    assert 70e-9 < border_s < 250e-9


def test_one_flag_of_many_is_no_state() -> None:
    assert borders(pl.Series([NEAR] * 60 + [10e-6])) == []
    assert borders(pl.Series([NEAR, FAR])) != []


def test_the_state_of_most_launches_is_reported() -> None:
    flags_s = [[NEAR, NEAR, FAR, NEAR], [NEAR, FAR, FAR, NEAR], [NEAR, NEAR, NEAR, math.nan]]
    found = with_states(launches(flags_s))
    assert counted(found) == [
        [True, True, False, True],
        [True, False, False, True],
        [True, True, True, False],
    ]
    states_s = sorted(set(found["state_s"].drop_nans().to_list()))
    assert states_s == pytest.approx([NEAR, FAR])


def test_other_columns_stay_as_they_are() -> None:
    given = launches([[NEAR, FAR, NEAR]]).with_columns(number=7, chosen=pl.lit("own"))
    assert with_states(given).select(given.columns).equals(given)


def test_a_point_that_hardly_met_the_state_keeps_its_own() -> None:
    found = with_states(launches([[NEAR] * 5, [NEAR] * 5, [FAR, FAR, FAR, FAR, NEAR]]))
    assert counted(found)[2] == [True, True, True, True, False]


@pytest.mark.parametrize("flags_s", [[None, None], [NEAR, NEAR * 1.2], [NEAR, math.nan]])
def test_without_states_all_counts(flags_s: list[float | None]) -> None:
    found = with_states(launches([flags_s]))
    assert found["counts"].all()
    assert found["state_s"].n_unique() == 1


def test_a_launch_without_a_flag_counts_where_one_would_be_left_alone() -> None:
    flags_s = [[NEAR] * 4, [FAR, FAR, NEAR, None], [NEAR, None, None, FAR], [NEAR, NEAR, None, FAR]]
    found = counted(with_states(launches(flags_s)))
    in_its_own = [True, True, True, False]
    assert found[1:] == [[True, True, False, False], in_its_own, [True, True, False, False]]
    assert with_states(launches([[NEAR, FAR, None, None, None]]))["counts"].all()


def test_a_point_in_another_state_says_so() -> None:
    found = with_states(launches([[NEAR] * 5, [NEAR] * 5, [FAR, FAR, FAR, FAR, NEAR]]))
    assert found.group_by("bytes", maintain_order=True).agg("elsewhere")["elsewhere"].to_list() == [
        [False] * 5,
        [False] * 5,
        [True] * 5,
    ]


def test_a_transport_without_flags_is_in_the_state_of_the_others() -> None:
    mixed = pl.concat(
        [launches([[NEAR] * 5, [FAR, NEAR, NEAR]], mpi="x"), launches([[None] * 3], mpi="y")]
    )
    assert not with_states(mixed)["elsewhere"].any()


def test_other_cores_are_other_places() -> None:
    """Ranks on one processor pass flags faster than on two: that is no change of the machine."""
    near = launches([[NEAR] * 4], placement="same-cache")
    far = launches([[FAR] * 4], placement="cores")
    assert with_states(pl.concat([near, far]))["counts"].all()


def flagged(given: pl.DataFrame, before_s: pl.Expr, after_s: pl.Expr) -> pl.LazyFrame:
    """Measurements with the flags before and after each visit."""
    flags = {"flag_high_s": after_s, "flag_low_s": before_s}
    values = pl.concat_list(
        pl.struct(pl.lit(name).alias("name"), flag.alias("value")) for name, flag in flags.items()
    )
    return given.with_columns(values=values).lazy()


def test_flags_come_from_both_sides_of_a_visit() -> None:
    given = build_measurements(sizes=(0, 8), launches=2).collect()
    after = pl.when(pl.col("launch") == 1).then(160e-9).otherwise(40e-9)
    found = visits(flagged(given, pl.lit(40e-9), after)).sort("launch")["flag_s"].to_list()
    assert found[:2] == pytest.approx([40e-9] * 2)
    assert all(math.isnan(flag_s) for flag_s in found[2:])


def test_a_launch_that_meets_two_states_counts_in_each() -> None:
    """Each launch visits its points three times; the machine is far during the last visit."""
    once = build_measurements(sizes=(0, 8, 64), launches=4, noise=0.0).collect()
    near = flagged(once, pl.lit(NEAR), pl.lit(NEAR)).collect()
    slowed = once.with_columns(samples_s=pl.col("samples_s").list.eval(2 * pl.element()))
    far = flagged(slowed, pl.lit(FAR), pl.lit(FAR)).collect()
    measured = pl.concat([near, near, far]).lazy()
    found, alone = summarise(measured), summarise(near.lazy())
    assert found["median_s"].to_list() == pytest.approx(alone["median_s"].to_list(), rel=1e-12)
    assert found["launches"].to_list() == [4] * 3
    assert found["state_share"].to_list() == pytest.approx([2 / 3] * 3)
    by_state = flagged_medians(measured)
    assert by_state.group_by("flag_s").len().sort("flag_s")["len"].to_list() == [12, 12]
    assert launch_medians(measured).height == 12


def test_a_summary_is_of_one_state() -> None:
    """Times in the far state are twice those in the near one; a fifth of the launches is far."""
    given = build_measurements(sizes=(0, 8, 64), launches=5, noise=0.0).collect()
    far = pl.col("launch") == 3
    flag = pl.when(far).then(FAR).otherwise(NEAR)
    slowed = pl.when(far).then(pl.col("samples_s").list.eval(2 * pl.element()))
    given = given.with_columns(samples_s=slowed.otherwise("samples_s"))
    given = flagged(given, flag, flag).collect()
    found = summarise(given.lazy())
    alone = summarise(given.filter(~far).lazy())
    for name in ("median_s", "ci_low_s", "ci_high_s"):
        assert found[name].to_list() == pytest.approx(alone[name].to_list(), rel=1e-12)
    assert found["launches"].to_list() == [4] * 3
    assert found["state_share"].to_list() == pytest.approx([0.8] * 3)
    assert found["state_s"].to_list() == pytest.approx([NEAR] * 3)
    assert alone["state_s"].to_list() == pytest.approx([NEAR] * 3)
    assert alone["state_share"].to_list() == [1.0] * 3
