"""Receives from a queue, predicted from models of it."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.machines.drain import predict_drain
from nhalf.machines.machine import Machine, PatternModel


def queue(order: str, mpi: str = "lib", **terms: float) -> PatternModel:
    return PatternModel(
        pattern="drain",
        mpi=mpi,
        axes=f"order={order},queue=unexpected,ranks=3",
        from_bytes=8,
        to_bytes=8,
        from_ranks=1,
        to_ranks=100,
        startup_s=terms,
        counts="depth",
        heldout_ranks_p95=0.25,
    )


MACHINE = Machine(
    name="m",
    patterns=(queue("in-order", **{"1": 1e-6}), queue("reverse", **{"1": 1e-6, "p-1": 1e-8})),
)


def test_a_queue_takes_its_depth_times_what_one_message_takes() -> None:
    [simple, searched] = predict_drain(MACHINE, "", [11], [8])
    assert (simple["algorithm"], simple["ranks"], simple["depth"]) == ("unexpected/in-order", 3, 11)
    assert simple["time_s"] == pytest.approx(1e-6)
    assert searched["time_s"] == pytest.approx(1.1e-6)
    assert searched["total_s"] == pytest.approx(12.1e-6)
    assert searched["interval_s"] == pytest.approx((1.1e-6 / 1.25, 1.1e-6 * 1.25))


def test_one_way_can_be_named_and_an_unknown_one_is_refused() -> None:
    [only] = predict_drain(MACHINE, "unexpected/reverse", [1], [8])
    assert only["algorithm"] == "unexpected/reverse"
    with pytest.raises(InputError, match="queue and order"):
        predict_drain(MACHINE, "posted/reverse", [1], [8])


@pytest.mark.parametrize(("depth", "size"), [(101, 8), (1, 9)])
def test_what_was_not_measured_is_refused_unless_allowed(depth: int, size: int) -> None:
    with pytest.raises(InputError, match="was not measured"):
        predict_drain(MACHINE, "", [depth], [size])
    assert all(
        row["extrapolated"] for row in predict_drain(MACHINE, "", [depth], [size], extrapolate=True)
    )


def test_a_machine_without_queues_or_with_those_of_several_libraries() -> None:
    with pytest.raises(InputError, match="no model of queues"):
        predict_drain(Machine(name="m"), "", [1], [8])
    both = Machine(
        name="m", patterns=(queue("any", "a-1", **{"1": 1e-6}), queue("any", "b-1", **{"1": 2e-6}))
    )
    with pytest.raises(InputError, match="queues of a-1, b-1"):
        predict_drain(both, "", [1], [8])
    [chosen] = predict_drain(both, "", [1], [8], "b")
    assert chosen["time_s"] == pytest.approx(2e-6)
