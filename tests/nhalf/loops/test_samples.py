"""Which samples of a loop count."""

import pytest

from nhalf.loops.samples import Sample, undisturbed


def test_samples_of_a_shared_core_or_a_changing_clock_do_not_count() -> None:
    alone = [Sample(1e-9, 2e9, 2e9, 1e-5)] * 5
    shared = [Sample(2e-9, 2e9, 2e9, 2e-5)] * 9
    changing = [Sample(9e-9, 1e9, 2e9, 1e-5)] * 9
    assert undisturbed([*shared, *alone, *changing]) == alone
    # Too few to be sure: all of them count.
    assert undisturbed([*shared, *alone[:2]]) == [*shared, *alone[:2]]
    assert undisturbed(changing) == changing
    assert alone[0].cycles == pytest.approx(2.0)
