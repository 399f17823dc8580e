"""A tail is said where it is long and certain, and shown in a table wherever it is known."""

from __future__ import annotations

import numpy as np
import polars as pl

from nhalf.facts.facts import Facts
from nhalf.present.findings.precision import LongTail
from nhalf.present.panels.precision import SlowestSamples
from tests.nhalf.synthetic import build_measurements


def with_tail(factor: float, launches: int = 12, share: float = 0.05) -> Facts:
    """A share of the samples of the first launches takes longer by a factor."""
    frame = build_measurements(sizes=(8, 4096), launches=12, samples=200).collect()
    random = np.random.default_rng(1)
    samples = [
        (np.array(row) * np.where(random.random(200) < share * (k < launches), factor, 1)).tolist()
        for k, row in frame.select("launch", "samples_s").iter_rows()
    ]
    return Facts(frame.with_columns(pl.Series("samples_s", samples)).lazy())


def test_a_long_tail_is_a_finding() -> None:
    (finding,) = LongTail().find(with_tail(5))
    assert finding.text.startswith("mpich: one sample in a hundred of pingpong at 8 B takes 5")
    assert finding.value is not None
    assert 3 < finding.low < finding.value < 6


def test_a_short_or_uncertain_tail_is_none() -> None:
    assert not list(LongTail().find(with_tail(2)))
    assert not list(LongTail().find(with_tail(50, launches=1)))
    assert not list(LongTail().find(Facts(build_measurements(samples=20))))


def test_the_slowest_samples_are_a_table() -> None:
    table = SlowestSamples().render(with_tail(5))
    assert table is not None
    assert table.columns[4:] == ["95 %", "99 %", "99.9 %", "99 % of the median"]
    (row,) = table.rows
    assert row[2] == "8 B"
    assert row[5].startswith("5")
    assert row[6] == "–"
    assert SlowestSamples().render(Facts(build_measurements(samples=20))) is None
