from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pytest

from nhalf.facts.facts import Facts
from nhalf.present.findings.traffic import PairsAtOnce, SlowestPair
from nhalf.store.places import Place

Make = Callable[..., pl.LazyFrame]


def measured(make: Make, pattern: str, factors: Mapping[str, float], **more: Any) -> pl.LazyFrame:
    """A pattern at several values of its axes, each that many times as slow as usual."""
    given = {"sizes": (8, 4096), "noise": 0.002, "launch_noise": 0.002, "ranks": 4, **more}
    frames = []
    for seed, (axes, factor) in enumerate(factors.items()):
        frame = make(patterns=(pattern,), axes=axes, seed=seed, **given)
        scaled = pl.col("samples_s").list.eval(pl.element() * factor)
        frames.append(frame.with_columns(samples_s=scaled))
    return pl.concat(frames)


def data_of(frame: pl.LazyFrame, **more: Any) -> Facts:
    return Facts(frame, **more)


EVEN = {f"first={i},second={j}": 1.0 for i in range(4) for j in range(i + 1, 4)}


def test_pairs_at_once_cost_what_was_put_in(make_measurements: Make) -> None:
    factors = {"pairs=1": 1.0, "pairs=2": 2.5}
    (found,) = PairsAtOnce().find(data_of(measured(make_measurements, "pairs-latency", factors)))
    assert found.low <= 2.5 <= found.high
    assert found.size_bytes == 8
    assert found.text.startswith("2 pairs at once: a message of 8 B takes 2.5x the time")


def test_the_worst_library_is_named_first(make_measurements: Make) -> None:
    def of(library: str, factor: float) -> pl.LazyFrame:
        factors = {"pairs=1": 1.0, "pairs=2": factor}
        return measured(make_measurements, "pairs-latency", factors, libraries=(library,))

    both = pl.concat([of("a", 1.5), of("b", 3.0)])
    (found,) = PairsAtOnce().find(data_of(both))
    assert found.mpi == "b"
    assert found.text.endswith("; a 1.50x.")


@pytest.mark.parametrize(
    "factors",
    [{"pairs=1": 1.0, "pairs=2": 1.02}, {"pairs=2": 3.0}, {"pairs=1": 1.0}, {"pairs=1": 3.0}],
)
def test_pairs_that_do_not_disturb_each_other_are_no_finding(
    factors: dict[str, float], make_measurements: Make
) -> None:
    data = data_of(measured(make_measurements, "pairs-latency", factors))
    assert list(PairsAtOnce().find(data)) == []


def test_one_launch_says_nothing_about_pairs(make_measurements: Make) -> None:
    factors = {"pairs=1": 1.0, "pairs=2": 3.0}
    data = data_of(measured(make_measurements, "pairs-latency", factors, launches=1))
    assert list(PairsAtOnce().find(data)) == []


def test_the_slowest_pair_is_named_with_its_places(make_measurements: Make) -> None:
    factors = {**EVEN, "first=1,second=3": 2.0}
    places = [Place("n1", 0, [0]), Place("n1", 1, [1]), Place("n2", 0, [0]), Place("n2", 1, [1])]
    frame = measured(make_measurements, "distance", factors)
    data = data_of(frame, find_places=lambda: {"run": {("mpich", 4, ""): places}})
    (found,) = SlowestPair().find(data)
    assert found.low <= 2.0 <= found.high
    assert "ranks 1 and 3 (different hosts) are farthest apart" in found.text
    assert "takes 2.0x as long" in found.text


def test_places_that_are_not_known_are_not_said(make_measurements: Make) -> None:
    frame = measured(make_measurements, "distance", {**EVEN, "first=0,second=2": 2.0})
    (found,) = SlowestPair().find(data_of(frame))
    assert "ranks 0 and 2 are farthest apart" in found.text


@pytest.mark.parametrize("seed", range(3))
def test_the_largest_of_many_noisy_values_is_no_distance(
    seed: int, make_measurements: Make
) -> None:
    pairs = {f"first={i},second={j}": 1.0 for i in range(9) for j in range(i + 1, 9)}
    frame = pl.concat(
        [
            make_measurements(
                patterns=("distance",),
                axes=axes,
                sizes=(8,),
                launches=4,
                launch_noise=0.3,
                seed=100 * seed + number,
            )
            for number, axes in enumerate(pairs)
        ]
    )
    data = data_of(frame)
    middle = data.summary["median_s"].median()
    assert data.summary["median_s"].max() > 1.1 * middle  # type: ignore[operator]
    assert list(SlowestPair().find(data)) == []


@pytest.mark.parametrize("pairs", [0, 1, 2])
def test_few_pairs_have_no_middle(pairs: int, make_measurements: Make) -> None:
    frame = measured(make_measurements, "distance", {**dict(list(EVEN.items())[:2]), "": 1.0})
    chosen = frame.filter(pl.col("axes").is_in(list(EVEN)[:pairs]))
    assert list(SlowestPair().find(data_of(chosen))) == []
