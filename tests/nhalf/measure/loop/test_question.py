"""What a probe is asked."""

from __future__ import annotations

from nhalf.measure.loop.question import line
from nhalf.measure.plan.plan import Point


def test_short_slices_have_few_operations() -> None:
    point = Point("bcast", 2, 8, axes="start=barrier,work=1")
    text = line("7", point, 0.002, 0.01, "operation")
    assert text == (
        "id=7 pattern=bcast bytes=8 slice_s=0.002000 precision=0.010000 samples_min=3 "
        "axis.start=barrier axis.work=1"
    )
    assert " visits=3 axis." in line("7", point, 0.02, 0.01, "operation", 3)
    assert "visits" not in text
    assert "samples_min" not in line("7", point, 0.02, 0.01, "operation")
    assert "samples_min" not in line("7", point, 0.002, 0.01, "first-rank")
