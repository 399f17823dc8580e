"""How shared arrays scale, of measurements whose rates are known."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings.memory import ArrayScaling

Make = Callable[..., pl.LazyFrame]


def measured(make: Make, seconds: Mapping[tuple[str, int], float], launches: int = 5) -> Facts:
    """Triad through casts (pattern array-triad) and in ordinary arrays, by pattern and ranks."""
    frames = [
        make(
            libraries=("",), transport="threads", patterns=(pattern,), sizes=(1 << 30,),
            ranks=ranks, rank_s=[time_s] * ranks, launches=launches,
            axes="access=cast" if pattern == "array-triad" else "", samples_s=[time_s] * 3,
        )
        for (pattern, ranks), time_s in seconds.items()
    ]  # fmt: skip
    return Facts(pl.concat(frames, how="vertical_relaxed"))


@pytest.mark.parametrize(
    ("two_s", "ordinary_s", "words"),
    [
        (0.51, 0.52, "has 1.96x the rate of one"),
        (0.51, 0.52, ", ordinary arrays 1.92x on threads: near-linear."),
        (0.80, 0.52, ": less than linear."),
        (0.80, 0.80, ": less than linear, as memory itself allows."),
    ],
)
def test_the_rate_over_ranks_is_told(
    two_s: float, ordinary_s: float, words: str, make_measurements: Make
) -> None:
    times_s = {("array-triad", 1): 1.0, ("array-triad", 2): two_s}
    ordinary = {("memory-triad", 1): 1.0, ("memory-triad", 2): ordinary_s}
    (found,) = ArrayScaling().find(measured(make_measurements, times_s | ordinary))
    assert words in found.text
    assert found.value == pytest.approx(1 / two_s)


def test_one_number_of_ranks_or_one_launch_says_nothing(make_measurements: Make) -> None:
    one = {("array-triad", 1): 1.0}
    assert list(ArrayScaling().find(measured(make_measurements, one))) == []
    two = one | {("array-triad", 2): 0.5}
    assert list(ArrayScaling().find(measured(make_measurements, two, launches=1))) == []
