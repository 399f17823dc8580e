"""Applied or not, from made-up launches: a rule that does nothing is never called active."""

from __future__ import annotations

import numpy as np
import pytest

from nhalf.experiment.race import TuningCell
from nhalf.experiment.tune.prove import judge
from nhalf.mpi.decision_table import NATIVE

CELL = TuningCell("bcast", 2, 65536)
Launches = dict[str, dict[tuple[str, int], float]]


def launches(
    default_s: float, forced_s: float, bad_s: float, noise: float = 0.1, seed: int = 1, n: int = 4
) -> Launches:
    random = np.random.default_rng(seed)
    times = {NATIVE: default_s, "forced": forced_s, "bad-rule": bad_s}
    return {
        key: {("r", k): float(value * np.exp(random.normal(0, noise))) for k in range(n)}
        for key, value in times.items()
    }


@pytest.mark.parametrize(
    ("forced_s", "bad_s", "verdict"),
    [
        (5e-5, 5e-5, "active"),
        (5e-5, 1e-5, "not active"),
        (5e-5, 5e-6, "not active"),
        (1.05e-5, 1.05e-5, "unclear"),
        (5e-6, 5e-6, "unclear"),
    ],
)
def test_the_bad_rule_is_slow_or_it_is_not_heeded(
    forced_s: float, bad_s: float, verdict: str
) -> None:
    found = judge(CELL, "chain", launches(1e-5, forced_s, bad_s))
    assert found.verdict == verdict
    assert found.cell == CELL
    assert "chain" in found.why


def test_the_share_of_the_effect() -> None:
    assert judge(CELL, "x", launches(1e-5, 4e-5, 4e-5, 0.0)).heeded_share == pytest.approx(1)
    assert judge(CELL, "x", launches(1e-5, 4e-5, 1e-5, 0.0)).heeded_share == pytest.approx(0)


def test_too_few_launches_prove_nothing() -> None:
    found = judge(CELL, "x", launches(1e-5, 1e-3, 1e-3, n=2))
    assert found.verdict == "unclear"
    assert "no launches" in found.why
    assert judge(CELL, "x", {}).verdict == "unclear"
    lacking = launches(1e-5, 1e-3, 1e-3)
    del lacking["bad-rule"]
    assert "with the bad rule" in judge(CELL, "x", lacking).why


def test_an_ignored_file_is_hardly_ever_called_active() -> None:
    verdicts = [
        judge(CELL, "x", launches(1e-5, 3e-5, 1e-5, noise=0.8, seed=seed)).verdict
        for seed in range(300)
    ]
    assert verdicts.count("active") <= 3
