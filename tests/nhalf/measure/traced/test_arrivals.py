"""Starts of traced operations as values of the axis `arrival`."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.base.errors import InputError
from nhalf.measure.traced.arrivals import ROWS_MOST, arrival_table
from tests.nhalf.traced_programs import call, stored, timed

MICROSECOND = 1e-6


def trace(folder: Path, *starts_us: tuple[float, ...], name: str = "MPI_Allreduce") -> Path:
    """A program whose operation number i begins 3 i s after the first, and then rank by rank."""
    calls = [
        call(rank, name, "collective", -1, 1 + 3 * number + start * MICROSECOND, 3.5 + 3 * number)
        for number, starts in enumerate(starts_us)
        for rank, start in enumerate(starts)
    ]
    return stored(timed(len(starts_us[0]), *calls), folder / "trace")


def test_a_row_has_the_microseconds_by_which_each_rank_came_later(tmp_path: Path) -> None:
    folder = trace(tmp_path, (0, 35.2, 12, 7), (50, 0, 0, 1))
    assert arrival_table(str(folder)) == "0-35-12-7_50-0-0-1"
    assert arrival_table(f"{folder}:MPI_Allreduce") == "0-35-12-7_50-0-0-1"


def test_of_many_operations_the_rows_are_quantiles_of_the_spread(tmp_path: Path) -> None:
    spreads = [(0, number) for number in range(160)]
    rows = arrival_table(str(trace(tmp_path, *spreads))).split("_")
    assert len(rows) == ROWS_MOST
    assert rows == [f"0-{place}" for place in range(10, 160, 20)]


def test_operations_that_began_after_other_work_are_left_out(tmp_path: Path) -> None:
    assert arrival_table(str(trace(tmp_path, (0, 1.2e6), (0, 3)))) == "0-3"


@pytest.mark.parametrize("text", ["{}:MPI_Bcast", "{}:bcast"])
def test_without_such_an_operation_there_is_one_line(tmp_path: Path, text: str) -> None:
    folder = trace(tmp_path, (0, 1))
    with pytest.raises(InputError, match="no timeline with"):
        arrival_table(text.format(folder))


def test_what_no_ranks_came_to_together_is_refused(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="collective operation of all its ranks"):
        arrival_table(
            str(stored(timed(1, call(0, "MPI_Barrier", "collective", -1, 1, 2)), tmp_path / "a"))
        )
    with pytest.raises(InputError, match="is not a trace"):
        arrival_table(str(tmp_path / "nothing"))
    (tmp_path / "b").mkdir()
    with pytest.raises(InputError):
        arrival_table(str(stored(timed(2), tmp_path / "b" / "c")))
