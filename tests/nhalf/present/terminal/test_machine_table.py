"""Intervals of a fitted segment as people read them."""

from __future__ import annotations

import math

import pytest

from nhalf.machines.machine import FittedModel, Machine, Range, Segment
from nhalf.present.terminal.machine_table import as_tables

RATE = 4


def cell(rate: float, interval: Range | None) -> tuple[str, str]:
    """Interval of the rate, and the caption below the table."""
    segment = Segment(
        from_bytes=0,
        to_bytes=1024,
        t0_s=1e-6,
        t0_ci=(9e-7, 1.1e-6),
        r_inf_Bps=rate,
        r_inf_ci=interval,
    )
    model = FittedModel(
        run="monday",
        transport="mpi",
        mpi="mpich",
        pattern="pingpong",
        ranks=2,
        segments=(segment,),
    )
    (table,) = as_tables(Machine(name="here", models=(model,)))
    return str(next(iter(table.columns[RATE].cells))), str(table.caption)


@pytest.mark.parametrize(
    ("rate", "interval", "said"),
    [
        (1e9, (0.9e9, 1.1e9), "900 MB/s – 1.1 GB/s"),
        (1e9, (1e9, 1e9), "no spread"),
        (1e9, None, ""),
        (1e9, (1e3, 1e15), "unknown"),
        (1e9, (0.5e9, math.inf), "> 500 MB/s"),
        (1e9, (1.0, math.inf), "unknown"),
        (math.inf, (2e9, math.inf), "> 2 GB/s"),
        (math.inf, (math.inf, math.inf), ""),
    ],
)
def test_an_interval_is_told_only_where_it_says_something(
    rate: float, interval: Range | None, said: str
) -> None:
    shown, caption = cell(rate, interval)
    assert shown == said
    assert ("unknown: launches disagree" in caption) == (said == "unknown")
