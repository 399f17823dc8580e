"""A model is bent to what was measured, and nowhere else."""

from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.decide.calibrate import TOLERANCE, follow
from nhalf.machines.curve import breakpoints_between
from nhalf.machines.machine import FittedModel, Segment

SMALL = Segment(from_bytes=0, to_bytes=1024, t0_s=1e-6, r_inf_Bps=1e9)
LARGE = Segment(from_bytes=2048, to_bytes=65536, t0_s=4e-6, r_inf_Bps=2e9)


def model(*segments: Segment) -> FittedModel:
    return FittedModel(
        transport="mpi",
        mpi="mpich-5.0.2",
        pattern="pingpong",
        ranks=2,
        segments=segments,
        breakpoints=breakpoints_between(segments),
    )


class TestFollow:
    def test_what_fits_stays(self) -> None:
        whole = model(SMALL, LARGE)
        measured = [(size, whole.time_s(size)) for size in (0, 1, 512, 1024, 2048, 65536)]
        found = follow(whole, measured)
        assert [one.t0_s for one in found.segments] == [SMALL.t0_s, LARGE.t0_s]
        assert found.segments[-1].to_bytes == LARGE.to_bytes

    def test_without_measurements_it_is_the_model(self) -> None:
        found = follow(model(SMALL, LARGE), [])
        for size in (0, 1024, 2048, 65536):
            assert found.time_s(size) == model(SMALL, LARGE).time_s(size)

    def test_within_the_tolerance_nothing_is_done(self) -> None:
        found = follow(model(SMALL), [(64, (1 + 0.9 * TOLERANCE) * SMALL.time_s(64))])
        assert found.time_s(64) == SMALL.time_s(64)

    def test_one_size_that_is_off_is_met_and_its_neighbours_are_left_alone(self) -> None:
        times = {size: SMALL.time_s(size) for size in (0, 64, 128, 256, 1024)}
        times[128] *= 1.5
        found = follow(model(SMALL), sorted(times.items()))
        for size, time_s in times.items():
            assert found.time_s(size) == pytest.approx(time_s, rel=1e-12)
        assert len(found.segments) == 3

    def test_sizes_next_to_each_other(self) -> None:
        measured = [(3, 2e-6), (4, 1e-6), (5, 3e-6)]
        found = follow(model(SMALL), measured)
        for size, time_s in measured:
            assert abs(found.time_s(size) / time_s - 1) <= TOLERANCE

    @given(
        st.dictionaries(st.integers(0, 65536), st.floats(1e-9, 1e3), min_size=1, max_size=40).map(
            lambda found: sorted(found.items())
        )
    )
    def test_every_measured_size_is_near_and_no_coefficient_negative(
        self, measured: list[tuple[int, float]]
    ) -> None:
        found = follow(model(SMALL, LARGE), measured)
        for size, time_s in measured:
            assert abs(found.time_s(size) / time_s - 1) <= TOLERANCE + 1e-9
        for one in found.segments:
            assert one.t0_s >= 0
            assert one.r_inf_Bps > 0
            assert one.from_bytes <= one.to_bytes

    def test_a_rate_that_is_infinite_stays_so(self) -> None:
        flat = Segment(from_bytes=0, to_bytes=64, t0_s=1e-6, r_inf_Bps=math.inf)
        found = follow(model(flat), [(0, 2e-6), (64, 2e-6)])
        assert found.time_s(64) == pytest.approx(2e-6)
        assert math.isinf(found.segments[0].r_inf_Bps)
