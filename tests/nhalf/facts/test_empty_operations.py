"""An operation without data that is not carried out is no part of a curve."""

from __future__ import annotations

import polars as pl
import pytest

from nhalf.facts.fit import carried_out
from nhalf.store.keys import RUN_CURVE

EMPTY: dict[str, object] = dict.fromkeys(RUN_CURVE, None) | {"run": "r", "ranks": 2}


def points(pattern: str, times_us: dict[int, float], **more: object) -> pl.DataFrame:
    rows = [
        {**EMPTY, "pattern": pattern, **more, "bytes": size, "median_s": time_us * 1e-6}
        for size, time_us in times_us.items()
    ]
    return pl.DataFrame(rows, schema_overrides={name: pl.String for name in more})


@pytest.mark.parametrize(
    ("pattern", "times_us", "left"),
    [
        ("allreduce", {0: 0.5, 4: 13, 8: 11}, [4, 8]),
        ("iallreduce", {0: 0.5, 4: 13, 8: 11}, [4, 8]),
        ("bcast-persistent", {8: 11, 0: 0.1}, [8]),
        ("allreduce", {0: 9, 4: 13, 8: 11}, [0, 4, 8]),
        ("pingpong", {0: 0.5, 4: 13, 8: 11}, [0, 4, 8]),
        ("barrier", {0: 0.5}, [0]),
        ("allreduce", {0: 0.5}, [0]),
        ("allreduce", {4: 13, 8: 11}, [4, 8]),
    ],
)
def test_what_is_left(pattern: str, times_us: dict[int, float], left: list[int]) -> None:
    made = points(pattern, times_us)
    kept = carried_out(made)
    assert kept["bytes"].to_list() == left
    assert kept.columns == made.columns


def test_each_library_is_judged_by_its_own_times() -> None:
    both = pl.concat(
        [
            points("bcast", {0: 0.5, 4: 13}, mpi="mpich-5.0.2"),
            points("bcast", {0: 0.5, 4: 0.6}, mpi="openmpi-5.0.11"),
        ]
    )
    found = carried_out(both).select("mpi", "bytes").rows()
    assert found == [("mpich-5.0.2", 4), ("openmpi-5.0.11", 0), ("openmpi-5.0.11", 4)]


def test_no_points_are_no_points() -> None:
    assert carried_out(points("bcast", {0: 0.5}).clear()).is_empty()
