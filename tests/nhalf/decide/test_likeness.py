"""A run beside a record: which sizes are unlike."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import polars as pl
import pytest

from nhalf.decide.runs_compared import Likeness, UnlikeSizes, likenesses
from nhalf.facts.facts import Facts
from nhalf.machines import catalogue
from nhalf.present.machines_words import likeness_sentence

Make = Callable[..., pl.LazyFrame]
RECORD = catalogue.machine("csd3-hdr100")
(CURVE,) = RECORD.models


def run_of(make: Make, factors: Mapping[int, float], **asked: Any) -> Facts:
    """A run without noise that takes the record's times, at some sizes by a factor."""
    given = {"libraries": ["mpich"], "noise": 0.0, "launch_noise": 0.0, "placement": "other-node",
             "algorithm": "native"}  # fmt: skip
    frames = [
        make(
            **{**given, "sizes": [size], "launches": 3, **asked},
            samples_s=[CURVE.time_s(size) * factors.get(size, 1.0)] * 3,
        )
        for size in CURVE.end_bytes
    ]
    return Facts(pl.concat(frames))


def only(likenesses_of_run: list[Likeness]) -> Likeness:
    (likeness,) = likenesses_of_run
    return likeness


def test_the_same_times_are_alike(make_measurements: Make) -> None:
    likeness = only(likenesses(run_of(make_measurements, {}), RECORD))
    assert (likeness.unlike, likeness.undecided, likeness.compared) == ((), 0, 24)
    assert (likeness.from_bytes, likeness.to_bytes, likeness.ranks) == (0, 4 << 20, 2)
    assert likeness_sentence(likeness, "today") == (
        "pingpong of 2 ranks (mpich): today does what csd3-hdr100's did within 10 %"
    )


def test_a_step_is_named_by_its_sizes(make_measurements: Make) -> None:
    step = dict.fromkeys((16384, 32768, 65536), 1.5)
    likeness = only(likenesses(run_of(make_measurements, step), RECORD))
    (unlike,) = likeness.unlike
    assert (unlike.from_bytes, unlike.to_bytes) == (16384, 65536)
    assert (unlike.least_ratio, unlike.greatest_ratio) == pytest.approx((1.5, 1.5))
    assert likeness_sentence(likeness, "today").endswith(
        "today does what csd3-hdr100's did within 10 %, but for 16 to 64 KiB (1.5 times as long)"
    )


def test_ranges_of_both_directions_are_told_apart(make_measurements: Make) -> None:
    factors = {8: 2.0, 16: 0.5, 4 << 20: 1.2}
    likeness = only(likenesses(run_of(make_measurements, factors), RECORD))
    assert [(each.from_bytes, each.to_bytes) for each in likeness.unlike] == [
        *((8, 8), (16, 16), (4 << 20, 4 << 20))
    ]
    words = likeness_sentence(likeness, "today")
    assert "8 B (2 times as long), 16 B (0.5 times as long) and 4 MiB (1.2 times" in words


def test_a_wider_tolerance_leaves_less(make_measurements: Make) -> None:
    facts = run_of(make_measurements, {8: 1.15, 64: 1.05})
    assert [each.from_bytes for each in only(likenesses(facts, RECORD)).unlike] == [8]
    # A difference smaller than that of good runs on two machines is none.
    assert [each.from_bytes for each in only(likenesses(facts, RECORD, 0.02)).unlike] == [8]
    assert only(likenesses(facts, RECORD, 0.2)).unlike == ()


def test_all_sizes_may_be_unlike(make_measurements: Make) -> None:
    factors = dict.fromkeys(CURVE.end_bytes, 2.0)
    likeness = only(likenesses(run_of(make_measurements, factors), RECORD))
    assert likeness.unlike == (
        UnlikeSizes(0, 4 << 20, pytest.approx(2.0), pytest.approx(2.0)),  # type: ignore[arg-type]
    )
    assert "does at no size what csd3-hdr100's did within 10 %: 0 B to 4 MiB (2 times" in (
        likeness_sentence(likeness, "today")
    )


def test_one_launch_decides_nothing(make_measurements: Make) -> None:
    likeness = only(likenesses(run_of(make_measurements, {8: 3.0}, launches=1), RECORD))
    assert (likeness.unlike, likeness.undecided) == ((), likeness.compared)
    assert "is undecided: measure more launches" in likeness_sentence(likeness, "it")


def test_other_placements_and_parameters_are_no_curve(make_measurements: Make) -> None:
    assert likenesses(run_of(make_measurements, {}, placement="same-node"), RECORD) == []
    assert likenesses(run_of(make_measurements, {}), catalogue.machine("sp2-mpl")) == []
    assert likenesses(run_of(make_measurements, {}), RECORD, mpi="openmpi") == []
