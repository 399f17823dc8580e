"""Runs against promises: what is selected, what is missing, and how intervals share their error."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.check.expectations import read_expectations
from nhalf.decide.check.promise import answers, time_intervals, verified
from nhalf.decide.check.verdict import JudgedExpectation
from nhalf.facts.facts import Facts
from nhalf.machines.machine import Segment
from nhalf.store.keys import POINT

Make = Callable[..., pl.LazyFrame]
SIZES = [0, 8, 1024, 65536]
"""Their times are 1 us and 0.2 ns per byte."""


@pytest.fixture
def ask(make_measurements: Make) -> Callable[..., JudgedExpectation]:
    """The answer to one expectation on synthetic measurements."""

    def make(text: str, **asked: Any) -> JudgedExpectation:
        given = {"sizes": SIZES, "noise": 0.0, "launch_noise": 0.0, **asked}
        expectations = read_expectations(
            Path("p.toml"), msgspec.toml.decode(f"[[expect]]\n{text}"), None
        )
        (answer,) = answers(Facts(make_measurements(**given)), expectations)
        return answer

    return make


Ask = Callable[..., JudgedExpectation]


@pytest.mark.sampled(10)
@pytest.mark.parametrize(
    ("text", "verdict", "points"),
    [
        ('metric="time"\nbytes=0\nat_most="1us"', "met", 1),
        ('metric="time"\nbytes=0\nat_most="999ns"', "missed", 1),
        ('metric="time"\nbytes=0\nat_most="0.95us"\ntolerance="10%"', "met", 1),
        ('metric="time"\nbytes="0:1K"\nat_most="1.3us"', "met", 3),
        ('metric="time"\nat_most="1.3us"', "missed", 4),
        ('metric="time"\nbytes=0\nat_least="1.1us"', "missed", 1),
        ('metric="time"\nbytes=[0, "64K"]\nat_most="20us"', "met", 2),
        ('metric="time"\nbytes=[0, "2K"]\nat_most="20us"', "not measured", 2),
        ('metric="time"\nbytes="2K:4K"\nat_most="20us"', "not measured", 1),
        ('metric="time"\nmpi="mpich"\nat_most="20us"', "met", 4),
        ('metric="time"\nmpi="mp*"\nat_most="20us"', "met", 4),
        ('metric="time"\nmpi="open*"\nat_most="20us"', "not measured", 1),
        ('metric="time"\nmpi=["mpich", "openmpi"]\nat_most="20us"', "not measured", 5),
        ('metric="time"\nranks=[2, 4]\nat_most="20us"', "not measured", 5),
        ('metric="time"\nranks="1:4"\nat_most="20us"', "met", 4),
        ('metric="time"\naxes={pairs=2}\nat_most="20us"', "not measured", 1),
        ('metric="bandwidth"\nat_most="5 GB/s"', "met", 3),
        ('metric="bandwidth"\nbytes=0\nat_most="5 GB/s"', "not measured", 1),
        ('metric="bandwidth"\nbytes="64K"\nat_least="37 Gbit/s"', "met", 1),
        ('metric="bandwidth"\nbytes="64K"\nat_least="38 Gbit/s"', "missed", 1),
        ('metric="t0"\nat_most="1.0001us"', "met", 1),
        ('metric="t0"\nbytes="64K"\nat_most="1.0001us"', "met", 1),
        ('metric="t0"\nbytes="1M"\nat_most="1.0001us"', "not measured", 1),
        ('metric="r_inf"\nat_least="4.99 GB/s"', "met", 1),
        ('metric="r_inf"\nat_least="5.1 GB/s"', "missed", 1),
        ('metric="n_half"\nat_most="5001"', "met", 1),
        ('metric="b_eff"\nat_least="1 GB/s"', "not measured", 1),
        ('metric="r_inf"\nmpi=["mpich", "openmpi"]\nat_least="4.99 GB/s"', "not measured", 2),
    ],
)  # fmt: skip
def test_verdicts(ask: Ask, text: str, verdict: str, points: int) -> None:
    answer = ask(text)
    assert answer.verdict == verdict
    assert len(answer.points) == points


@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("metric", "sizes", "value"),
    [
        ("t0", "", 1e-6),
        ("t0", "bytes='1K:64K'", 5e-6),
        ("t0", "bytes=[8, 65536]", 1e-6),
        ("r_inf", "", 5e9),
        ("r_inf", "bytes='0:8'", 1e9),
        ("n_half", "", 25000.0),
    ],
)
def test_the_first_segment_starts_and_the_last_one_carries(
    make_measurements: Make, metric: str, sizes: str, value: float
) -> None:
    measured = Facts(make_measurements(sizes=SIZES))
    segments = [
        Segment(
            from_bytes=first, to_bytes=last, t0_s=t0_s, t0_ci=(t0_s, t0_s), r_inf_Bps=rate_Bps,
            r_inf_ci=(rate_Bps, rate_Bps), n_half_bytes=t0_s * rate_Bps, n_half_ci=(0.0, 1e9),
        )
        for first, last, t0_s, rate_Bps in ((0, 8, 1e-6, 1e9), (1024, 65536, 5e-6, 5e9))
    ]  # fmt: skip
    model = msgspec.structs.replace(measured.models[0], segments=tuple(segments))
    measured = measured.with_known(models=[model])
    bound = {"t0": "1 s", "r_inf": "9 GB/s", "n_half": "1M"}[metric]
    text = f'[[expect]]\nmetric="{metric}"\nat_most="{bound}"\n{sizes}'
    (answer,) = answers(measured, read_expectations(Path("p"), msgspec.toml.decode(text), None))
    (point,) = answer.points
    assert point.measured is not None
    assert point.measured.median == pytest.approx(value)


def test_axes_are_selected_by_their_values(ask: Ask) -> None:
    text = 'metric="time"\nat_most="20us"\naxes={pairs=[2, 4]}'
    answer = ask(text, axes="load=10,pairs=2")
    assert answer.verdict == "not measured"
    assert [point.point for point in answer.points if point.measured is None] == [
        {"axes": "pairs=4"}
    ]


@pytest.mark.parametrize("metric", ["time", "t0"])
def test_one_launch_is_unclear_and_says_so(ask: Ask, metric: str) -> None:
    answer = ask(f'metric="{metric}"\nat_most="9 s"', launches=1)
    assert answer.verdict == "unclear"
    assert "one launch" in answer.worst_point.reason


def test_a_value_between_is_unclear(ask: Ask) -> None:
    assert ask('metric="time"\nbytes=0\nat_most="1us"', launch_noise=0.05).verdict == "unclear"


@pytest.mark.parametrize(("metric", "bound"), [("time", "1 s"), ("bandwidth", "9 TB/s")])
def test_the_interval_holds_the_value(ask: Ask, metric: str, bound: str) -> None:
    for seed in range(10):
        text = f'metric="{metric}"\nat_most="{bound}"'
        for point in ask(text, launch_noise=0.5, launches=3, seed=seed).points:
            assert point.measured is not None
            assert point.measured.low < point.measured.median < point.measured.high


def test_wrong_data_is_never_fast_enough(ask: Ask) -> None:
    answer = ask('metric="time"\nat_most="9 s"', verified=False)
    assert {point.verdict for point in answer.points} == {"missed"}
    assert "did not verify" in answer.worst_point.reason


def test_a_time_of_zero_is_the_clock(ask: Ask) -> None:
    answer = ask('metric="time"\nat_most="9 s"', samples_s=[0.0, 0.0])
    assert answer.verdict == "unclear"
    assert "clock is too coarse" in answer.worst_point.reason


@pytest.mark.parametrize(("launches", "verdict"), [(1, "met"), (9, "unclear")])
def test_times_of_zero_leave_the_other_sizes_alone(
    make_measurements: Make, launches: int, verdict: str
) -> None:
    """One launch that took no time failed; where all did, the clock is too coarse."""
    frame = make_measurements(sizes=SIZES).collect()
    zero = pl.when(pl.col("bytes") == 8, pl.col("launch") < launches).then(pl.lit([0.0]))
    frame = frame.with_columns(zero.otherwise("samples_s").alias("samples_s"))
    text = '[[expect]]\nmetric="time"\nat_most="1 s"'
    expectations = read_expectations(Path("p"), msgspec.toml.decode(text), None)
    (answer,) = answers(Facts(frame.lazy()), expectations)
    verdicts = {point.point["bytes"]: point.verdict for point in answer.points}
    assert verdicts == {0: "met", 8: verdict, 1024: "met", 65536: "met"}


def test_all_data_is_verified_or_named(make_measurements: Make) -> None:
    assert verified(Facts(make_measurements(sizes=SIZES))).verdict == "met"
    wrong = verified(Facts(make_measurements(sizes=SIZES, verified=False)))
    assert wrong.verdict == "missed"
    assert len(wrong.points) == len(SIZES)


def test_points_without_samples_are_not_measured(make_measurements: Make) -> None:
    empty = Facts(make_measurements(sizes=SIZES, samples_s=[]))
    assert verified(empty).verdict == "not measured"
    text = '[[expect]]\nmetric="time"\nat_most="9 s"'
    (answer,) = answers(empty, read_expectations(Path("p"), msgspec.toml.decode(text), None))
    assert answer.verdict == "not measured"


def test_a_sample_that_is_no_number_is_an_error(make_measurements: Make) -> None:
    broken = Facts(make_measurements(sizes=SIZES, samples_s=[1e-6, float("nan")]))
    with pytest.raises(InputError, match="not finite"):
        verified(broken)


def test_a_result_by_its_name_and_by_a_member(make_rings: Make) -> None:
    measured = Facts(make_rings())
    text = """
        [[expect]]
        metric = "b_eff"
        at_least = "1 MB/s"
        [[expect]]
        metric = "b_eff.b_eff_per_process_Bps"
        at_most = "1 MB/s"
        [[expect]]
        metric = "b_eff"
        mpi = "openmpi"
        at_least = "1 MB/s"
        """
    found = answers(measured, read_expectations(Path("p"), msgspec.toml.decode(text), None))
    assert [answer.verdict for answer in found] == ["met", "missed", "not measured"]
    wrong = '[[expect]]\nmetric="b_eff.b_ef_Bps"\nat_least="1 MB/s"'
    with pytest.raises(InputError, match="did you mean b_eff_Bps"):
        answers(measured, read_expectations(Path("p"), msgspec.toml.decode(wrong), None))


def test_an_estimate_from_a_part_keeps_no_promise(make_rings: Make) -> None:
    part = make_rings().filter(~pl.col("axes").str.contains("sendrecv"))
    text = '[[expect]]\nmetric = "b_eff"\nat_least = "1 MB/s"'
    (answer,) = answers(Facts(part), read_expectations(Path("p"), msgspec.toml.decode(text), None))
    assert answer.verdict == "not measured"
    assert "it is an estimate: only 2 of 3 methods were measured" in answer.worst_point.reason


def test_intervals_widen_with_what_is_checked_at_once(make_measurements: Make) -> None:
    libraries = ["a", "b", "c", "d"]
    measured = Facts(make_measurements(libraries=libraries, sizes=SIZES))
    points, medians = measured.summary, measured.launches

    def width(checked: pl.DataFrame) -> float:
        found = time_intervals(checked, medians)
        interval = found[
            points.filter(pl.col("mpi") == "a", pl.col("bytes") == 8).select(POINT).row(0)
        ]
        return interval.high / interval.low

    only_a = points.filter(pl.col("mpi") == "a")
    assert width(points) > width(only_a) > 1


@pytest.mark.full
@pytest.mark.slow
def test_a_machine_that_keeps_its_promises_is_rarely_accused(make_measurements: Make) -> None:
    """Everything is promised at just its true time: half of 5 % of the checks may say missed."""
    text = "".join(
        f'[[expect]]\nmetric="time"\nbytes={size}\nat_most="{1e6 * (1e-6 + size / 5e9)}us"\n'
        for size in SIZES
    )
    expectations = read_expectations(Path("p"), msgspec.toml.decode(text), None)
    accused = [
        any(
            answer.verdict == "missed"
            for answer in answers(
                Facts(make_measurements(libraries=["a", "b"], sizes=SIZES, samples=3, seed=seed)),
                expectations,
            )
        )
        for seed in range(80)
    ]
    assert np.mean(accused) < 0.06


@pytest.mark.parametrize(
    ("bound", "verdict"), [("1.3us", "met"), ("1.12us", "unclear"), ("1.02us", "missed")]
)
def test_a_quantile_of_the_samples_is_promised(
    bound: str, verdict: str, ask: Callable[..., JudgedExpectation]
) -> None:
    """Of lognormal samples of 1 us with 5 %, 99 % take no longer than 1.123 us."""
    noisy = {"sizes": [0], "noise": 0.05, "samples": 500, "launches": 12}
    answer = ask(f'metric = "time"\nquantile = "99%"\nat_most = "{bound}"', **noisy)
    assert answer.verdict == verdict
    assert answer.name == "time of 99 % of the samples"


def test_a_quantile_of_few_samples_or_one_launch_is_unclear(
    ask: Callable[..., JudgedExpectation],
) -> None:
    promised = 'metric = "time"\nquantile = 0.99\nbytes = [8]\nat_most = "1s"'
    (point,) = ask(promised, samples=99).points
    assert (point.verdict, point.reason) == ("unclear", "495 samples: at least 500 are needed")
    (point,) = ask(promised, samples=500, launches=1, noise=0.05).points
    assert point.verdict == "unclear"


def test_medians_and_quantiles_hold_jointly(make_measurements: Make) -> None:
    """The interval of a median is wider where further intervals hold with it."""
    text = '[[expect]]\nmetric = "time"\nbytes = 8\nat_most = "1us"\n'
    facts = Facts(make_measurements(sizes=SIZES, samples=200))
    widths = []
    for further in ("", text.replace("bytes = 8", 'quantile = "90%"')):
        promises = read_expectations(Path("p.toml"), msgspec.toml.decode(text + further), None)
        measured = answers(facts, promises)[0].points[0].measured
        assert measured is not None
        widths.append(measured.high - measured.low)
    assert widths[0] < widths[1]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('metric = "time"\nquantile = "150%"', "quantile"),
        ('metric = "time"\nquantile = 0', "quantile"),
        ('metric = "time"\nquantile = 99', "has no %"),
        ('metric = "bandwidth"\nquantile = "99%"', "is of times"),
    ],
)
def test_quantiles_that_are_none(
    text: str, words: str, ask: Callable[..., JudgedExpectation]
) -> None:
    with pytest.raises(InputError, match=words):
        ask(f'{text}\nat_most = "1s"' if "time" in text else f'{text}\nat_least = "1GB/s"')
