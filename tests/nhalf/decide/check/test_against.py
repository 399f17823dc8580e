"""Runs against former runs and against machines."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import msgspec
import numpy as np
import polars as pl
import pytest

from nhalf.base.errors import InputError
from nhalf.decide.check.against import (
    against_former,
    against_machine,
    against_run,
    as_model,
    model_notes,
    of_libraries,
)
from nhalf.decide.check.verdict import CheckedRun, JudgedExpectation
from nhalf.facts.facts import Facts
from nhalf.machines.machine import Breakpoint, FittedModel, Machine, Segment
from nhalf.statistics.doubt import Doubt
from nhalf.statistics.summary import launch_medians, state_medians, stated_visits
from nhalf.store.keys import MEASUREMENT_COLUMNS

Make = Callable[..., pl.LazyFrame]
SIZES = [0, 8, 1024, 65536]


@pytest.fixture
def exact(make_measurements: Make) -> Make:
    """Measurements without noise."""

    def make(**asked: Any) -> pl.LazyFrame:
        return make_measurements(**{"sizes": SIZES, "noise": 0.0, "launch_noise": 0.0, **asked})

    return make


def by_name(answers: Sequence[JudgedExpectation]) -> dict[str, str]:
    return {answer.name: answer.verdict for answer in answers}


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, "met"), (0.5, "met"), (1.09, "met"), (1.11, "missed")]
)
def test_the_tolerance_decides(exact: Make, factor: float, verdict: str) -> None:
    now = Facts(exact(slower={"mpich": factor}))
    against = against_run(now, launch_medians(exact()), 0.10)
    assert by_name(against.answers) == {"pingpong, mpich, 2 ranks": verdict}
    # Every size and the level of them all.
    assert len(against.answers[0].points) == len(SIZES) + 1
    assert against.comparison.not_comparable == []


@pytest.mark.parametrize(
    ("factor", "verdict", "reason"),
    [(1.5, "unclear", "they were busy"), (1.0, "met", ""), (0.5, "met", "")],
)
def test_what_is_slower_beside_others_is_unclear(
    exact: Make, factor: float, verdict: str, reason: str
) -> None:
    former = state_medians(stated_visits(exact()))
    now = Facts(exact(slower={"mpich": factor}))
    doubt = Doubt("they were busy", "send them away")
    against = against_former(now, former, 0.10, slower_doubt=doubt)
    (answer,) = against.answers
    assert answer.verdict == verdict
    assert answer.points[0].reason == reason
    assert not against.comparison.regressed
    assert {size.verdict for size in against.comparison.curves[0].sizes} != {"slower"}


def test_of_more_curves_only_larger_changes_show(make_measurements: Make) -> None:
    libraries = ["a", "b", "c", "d"]
    before, after = (
        make_measurements(libraries=libraries, sizes=SIZES, seed=seed) for seed in (1, 2)
    )

    def detectable_ratio(names: list[str]) -> float:
        wanted = pl.col("mpi").is_in(names)
        former = launch_medians(before.filter(wanted))
        against = against_run(Facts(after.filter(wanted)), former, 0.10)
        (curve,) = (curve for curve in against.comparison.curves if curve.mpi == "a")
        return curve.detectable_ratio

    assert detectable_ratio(libraries) > detectable_ratio(["a"]) > 1


def test_what_one_of_both_lacks_is_told(exact: Make) -> None:
    former = launch_medians(exact(libraries=["mpich", "openmpi"], sizes=[0, 8, 16]))
    against = against_run(Facts(exact(libraries=["mpich", "impi"])), former, 0.10)
    assert by_name(against.answers) == {
        "pingpong, mpich, 2 ranks": "met",
        "pingpong, openmpi, 2 ranks": "not measured",
    }
    assert [(row["reason"], row["bytes"]) for row in against.comparison.not_comparable] == [
        ("only expected", [16]),
        ("only measured", [1024, 65536]),
    ]


def test_nothing_in_common_is_all_not_measured(exact: Make) -> None:
    former = launch_medians(exact(patterns=["exchange"]))
    against = against_run(Facts(exact()), former, 0.10)
    assert by_name(against.answers) == {"exchange, mpich, 2 ranks": "not measured"}
    assert [row["reason"] for row in against.comparison.not_comparable] == ["only measured"]


def test_a_library_that_was_left_out_is_not_missing(exact: Make) -> None:
    former = launch_medians(exact(libraries=("mpich", "openmpi"), patterns=("pingpong", "stream")))
    against = against_run(Facts(exact(), {}), former, 0.1)
    found = of_libraries(CheckedRun("baseline", 0.95, against.answers), {"mpich": "MPICH"})
    assert by_name(found.answers) == {
        "pingpong, mpich, 2 ranks": "met",
        "stream, mpich, 2 ranks": "not measured",
    }


def test_one_launch_is_unclear(exact: Make) -> None:
    against = against_run(Facts(exact(launches=1)), launch_medians(exact()), 0.10)
    assert {point.verdict for point in against.answers[0].points} == {"unclear"}


def test_wrong_data_is_missed(exact: Make) -> None:
    against = against_run(Facts(exact(verified=False)), launch_medians(exact()), 0.10)
    assert against.answers[0].verdict == "missed"
    assert "did not verify" in against.answers[0].worst_point.reason


def machine_of(measurements: pl.LazyFrame, **changes: Any) -> Machine:
    models = Facts(measurements).models
    return Machine(**{"name": "known", "models": tuple(models), **changes})


@pytest.mark.parametrize(
    ("factor", "verdict"), [(1.0, "met"), (0.5, "met"), (1.09, "met"), (1.11, "missed")]
)
def test_a_machine_promises_what_its_models_say(exact: Make, factor: float, verdict: str) -> None:
    now = Facts(exact(slower={"mpich": factor}, sizes=[0, 4096, 30000]))
    against = against_machine(now, machine_of(exact()), 0.10)
    assert by_name(against.answers) == {"pingpong, mpich, 2 ranks": verdict}
    assert against.comparison.not_comparable == []


def test_a_model_does_not_promise_beyond_its_sizes(exact: Make) -> None:
    now = Facts(exact(sizes=[*SIZES, 1 << 20], slower={"mpich": 1.0}))
    against = against_machine(now, machine_of(exact()), 0.10)
    assert [(row["reason"], row["bytes"]) for row in against.comparison.not_comparable] == [
        ("only measured", [1 << 20])
    ]
    assert max(point.point.get("bytes", 0) for point in against.answers[0].points) == 65536


def test_a_machine_of_one_other_library_is_compared_with_the_only_one(exact: Make) -> None:
    against = against_machine(Facts(exact()), machine_of(exact(libraries=["mpich-4"])), 0.10)
    assert by_name(against.answers) == {"pingpong, mpich, 2 ranks": "met"}


def test_models_that_were_not_measured_are_failures(exact: Make) -> None:
    known = machine_of(exact(patterns=["pingpong", "exchange"]))
    against = against_machine(Facts(exact()), known, 0.10)
    assert by_name(against.answers) == {
        "pingpong, mpich, 2 ranks": "met",
        "exchange, mpich, 2 ranks": "not measured",
    }
    against = against_machine(Facts(exact(patterns=["stream"])), known, 0.10)
    assert set(by_name(against.answers).values()) == {"not measured"}


def test_a_machine_without_models_promises_nothing(exact: Make) -> None:
    with pytest.raises(InputError, match="has no model"):
        against_machine(Facts(exact()), Machine(name="empty"), 0.10)


def test_a_model_of_a_file_predicts_as_it_was_fitted() -> None:
    model = FittedModel(
        transport="mpi",
        pattern="pingpong",
        ranks=2,
        segments=(
            Segment(from_bytes=0, to_bytes=100, t0_s=1e-6, t0_ci=(1e-6, 1e-6)),
            Segment(from_bytes=200, to_bytes=400, t0_s=2e-6, t0_ci=(2e-6, 2e-6), r_inf_Bps=1e8),
        ),
        breakpoints=(
            Breakpoint(
                low_bytes=100, high_bytes=200, at_bytes=150, change_percent=250, kind="jump"
            ),
        ),
    )
    times = as_model(model).predict_s(np.array([0.0, 100.0, 149.0, 150.0, 400.0]))
    assert times == pytest.approx([1e-6, 1e-6, 1e-6, 3.5e-6, 6e-6])


def test_a_published_curve_promises_by_its_segments(exact: Make) -> None:
    measured = Facts(exact())
    row = measured.launches.row(0, named=True)
    sizes = sorted(set(measured.launches["bytes"].to_list()))
    segments = (
        Segment(from_bytes=0, to_bytes=sizes[1], t0_s=1e-6, r_inf_Bps=1e9),
        Segment(from_bytes=sizes[1] + 1, to_bytes=sizes[-1], t0_s=0, r_inf_Bps=1e8, root_s=1e-6),
    )
    model = FittedModel(
        transport=row["transport"],
        pattern=row["pattern"],
        ranks=row["ranks"],
        placement=row["placement"],
        axes=row["axes"],
        algorithm=row["algorithm"],
        segments=segments,
    )
    (answer,) = against_machine(measured, Machine(name="old", models=(model,)), 0.0).answers
    promised = {point.point["bytes"]: point.bounds.high for point in answer.points[1:]}
    assert sorted(promised) == sizes
    for size, high in promised.items():
        by_hand = 1e-6 + size / 1e9 if size <= sizes[1] else size / 1e8 + 1e-6 * size**0.5
        assert high == pytest.approx(by_hand)


def test_models_that_err_more_than_is_tolerated_are_mentioned(exact: Make) -> None:
    known = machine_of(exact())
    assert model_notes(known, 0.10) == []
    rough = msgspec.structs.replace(known.models[0], heldout_p95=0.3)
    (note,) = model_notes(Machine(name="m", models=(rough,)), 0.10)
    assert "30 %" in note


def test_a_machine_whose_state_is_unknown_decides_nothing(exact: Make) -> None:
    """A curve that is twice as slow is unclear where other processes took the cores."""
    flags = [{"name": name, "value": 5e-8} for name in ("flag_before_s", "flag_after_s")]
    missed = pl.when(pl.col("launch") < 3).then(pl.lit(flags)).otherwise(pl.lit([]))
    kind = MEASUREMENT_COLUMNS["values"]
    before = Facts(exact()).flagged
    twice = exact(slower={"mpich": 2.0})
    now = Facts(twice.with_columns(values=missed.cast(kind)))
    against = against_former(now, before, 0.10)
    (answer,) = against.answers
    assert answer.verdict == "unclear"
    assert "the state of the machine is unknown for" in answer.points[0].reason
    assert answer.points[0].remedy
    assert not against.comparison.regressed
    assert against_former(Facts(twice), before, 0.10).comparison.regressed
