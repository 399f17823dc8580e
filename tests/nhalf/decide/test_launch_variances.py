"""What curves say together of how much launches differ."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.decide.launch_variances import with_common_variances
from nhalf.decide.ratio_intervals import LaunchLogs, logs_apart, paired_logs

CURVES, LAUNCHES, SIZES = 12, 6, 5


def curves(
    common: float, deviations: list[float] | None = None, seed: int = 1, launches: int = LAUNCHES
) -> list[LaunchLogs]:
    """Curves whose launches differ by these deviations; `common` is their correlation."""
    random = np.random.default_rng(seed)
    shared = random.normal(0, 1, (2, launches, 1))
    made = []
    for deviation in deviations or [0.1] * CURVES:
        own = random.normal(0, 1, (2, launches, 1))
        levels = deviation * (np.sqrt(common) * shared + np.sqrt(1 - common) * own)
        a, b = levels + random.normal(0, 0.01, (2, launches, SIZES))
        made.append(logs_apart(a, b, b.mean(axis=0) - a.mean(axis=0), 3))
    return made


def degrees(logs: list[LaunchLogs]) -> float:
    return float(np.mean([of_side for curve in logs for _, of_side in curve.spreads]))


def test_curves_that_are_alike_know_their_variance_better() -> None:
    own = curves(0.0)
    together = with_common_variances(own)
    assert degrees(together) > 2.5 * (LAUNCHES - 1)
    before, after = (np.std([c.launch_variances for c in logs]) for logs in (own, together))
    assert after < before / 2
    ends = [
        [curve.estimates().ends(0.001, 0.001)[2][0] for curve in logs] for logs in (own, together)
    ]
    assert np.median(ends[1]) < 0.85 * np.median(ends[0])


def test_launches_that_disturb_all_curves_say_no_more_than_one_curve() -> None:
    together = with_common_variances(curves(1.0))
    assert degrees(together) < 1.5 * (LAUNCHES - 1)


def test_curves_that_differ_keep_their_variances() -> None:
    unlike = [0.01, 0.2] * (CURVES // 2)
    for common in (0.0, 1.0):
        together = with_common_variances(curves(common, unlike, launches=12))
        steady, shaken = (
            np.median([sum(c.launch_variances) for c in together[first::2]]) for first in (0, 1)
        )
        assert shaken > 50 * steady


@pytest.mark.parametrize("number", [0, 1, 2])
def test_few_curves_have_their_own(number: int) -> None:
    own = curves(0.0)[:number]
    together = with_common_variances(own)
    assert [c.launch_variances for c in together] == [c.launch_variances for c in own]
    assert all(of_side == LAUNCHES - 1 for curve in together for _, of_side in curve.spreads)


def test_pairs_have_one_side_and_single_launches_none() -> None:
    random = np.random.default_rng(1)
    (first, *_) = with_common_variances(
        [paired_logs(random.normal(0, 0.1, (LAUNCHES, 1))) for _ in range(CURVES)]
    )
    assert len(first.spreads) == 1
    (once, *_) = with_common_variances([logs_apart(*np.zeros((2, 1, 1)), np.zeros(1), 3)] * 4)
    assert np.isnan(once.launch_variances).all()
