"""Pieces follow any curve that a machine file may hold, with possible coefficients only."""

from __future__ import annotations

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nhalf.machines.machine import FittedModel, Segment
from nhalf.machines.pieces import PIECES_MAX, PIECES_PER_RANGE, LinearPiece, fastest_Bps, pieces


def curve(*segments: Segment) -> FittedModel:
    return FittedModel(transport="mpi", pattern="pingpong", ranks=2, segments=segments)


def at(found: list[LinearPiece], size: int) -> float:
    piece = [one for one in found if one.from_bytes <= size][-1]
    return piece.t0_s + size * piece.per_byte_s


def test_lines_stay_lines_and_borders_are_kept() -> None:
    model = curve(
        Segment(from_bytes=0, to_bytes=1023, t0_s=1e-6, r_inf_Bps=1e9),
        Segment(from_bytes=1024, to_bytes=65536, t0_s=4e-6, r_inf_Bps=2e9),
    )
    assert pieces(model, 4e9, [2048, 1024, 10**9]) == [
        LinearPiece(0, pytest.approx(1e-6), pytest.approx(1e-9)),
        LinearPiece(1024, pytest.approx(4e-6), pytest.approx(5e-10)),
        LinearPiece(2048, pytest.approx(4e-6), pytest.approx(5e-10)),
    ]


@pytest.mark.parametrize(
    "segment",
    [
        # The exchange of a machine of record, its large messages, and times that do not grow.
        Segment(from_bytes=4096, to_bytes=16384, t0_s=-52e-6, r_inf_Bps=16.2e6),
        Segment(from_bytes=65536, to_bytes=4194304, t0_s=0.0, r_inf_Bps=9.39e6, root_s=-7.78e-6),
        Segment(from_bytes=0, to_bytes=512, t0_s=5e-6),
        Segment(from_bytes=0, to_bytes=65536, t0_s=0.0, r_inf_Bps=1e9),
        Segment(from_bytes=8, to_bytes=8, t0_s=1e-6),
    ],
)
def test_odd_curves_are_followed(segment: Segment) -> None:
    model = curve(segment)
    link_Bps = fastest_Bps(model)
    found = pieces(model, link_Bps)
    assert all(one.t0_s >= 0 and one.per_byte_s >= 1 / link_Bps * (1 - 1e-12) for one in found)
    assert len(found) <= PIECES_MAX
    step = max(1, (segment.to_bytes - segment.from_bytes) // 997)
    for size in range(segment.from_bytes, segment.to_bytes + 1, step):
        assert at(found, size) == pytest.approx(segment.time_s(size), rel=0.01)


@pytest.mark.parametrize("count", [181, 300])
def test_a_noisy_curve_of_many_segments_ends(count: int) -> None:
    """As a noisy run is calibrated: a scaled segment, rising or falling, around every size."""
    sizes = [round(1.05**place) + 8 * place for place in range(count + 1)]
    segments = [
        Segment(
            from_bytes=low,
            to_bytes=high - 1,
            t0_s=1e-6 * (1 + 0.4 * math.sin(7.0 * low)),
            r_inf_Bps=1e9 / (1 + 0.4 * math.sin(5.0 * low)),
        )
        for low, high in itertools.pairwise(sizes)
    ]
    model = curve(*segments)
    found = pieces(model, fastest_Bps(model), [65536])
    assert count <= len(found) <= max(PIECES_MAX, PIECES_PER_RANGE * (count + 1))
    for segment in segments:
        middle = (segment.from_bytes + segment.to_bytes) // 2
        assert at(found, middle) == pytest.approx(segment.time_s(middle), rel=0.05)


times = st.floats(1e-7, 1e-3)
rates = st.one_of(st.floats(1e6, 1e11), st.just(math.inf))


@given(st.lists(st.tuples(times, rates), min_size=1, max_size=5), st.floats(1, 10))
def test_no_coefficient_is_ever_negative(lines: list[tuple[float, float]], wide: float) -> None:
    borders = [0, 100, 1000, 10000, 100000, 1000000]
    model = curve(
        *(
            Segment(from_bytes=borders[k], to_bytes=borders[k + 1] - 1, t0_s=t0, r_inf_Bps=rate)
            for k, (t0, rate) in enumerate(lines)
        )
    )
    link_Bps = fastest_Bps(model) * wide
    found = pieces(model, link_Bps)
    assert found[0].from_bytes == 0
    assert all(one.t0_s >= 0 and one.per_byte_s >= 1 / link_Bps * (1 - 1e-12) for one in found)
    assert [one.from_bytes for one in found] == sorted({one.from_bytes for one in found})
