# SPDX-License-Identifier: Apache-2.0
"""Noise on the virtual network: at random, and the same for the same seed."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from pathlib import Path
from statistics import fmean
from typing import Any

import pytest

from nhalf.machines import catalogue
from nhalf.machines.curve import time_at_s
from nhalf.machines.message import Messages
from tests.nhalf.measure.virtual.programs import built, tried

SHARE = 0.2
ROUNDS, SIZES = 10, 13
OVERHEADS_S = 1.5e-6 + 2.5e-6


def test_noise_depends_on_its_seed_and_has_its_mean(programs: Path, plain: Path) -> None:
    program = built("mpich", "pingpong", programs)

    def times(options: str) -> str:
        outcome = tried(str(plain), "mpich", 2, program, options=f"--placement 2x1 {options}")
        assert outcome.exit_code == 0, outcome.stderr
        assert re.search(r", noise of 20 % by seed [12]$", outcome.stderr.strip())
        return outcome.stdout

    first, again, other = (times(f"--noise 20% --seed {seed}") for seed in (1, 1, 2))
    assert first == again != other
    curve = Messages(catalogue.machine(str(plain))).between_nodes[0][1]
    added = []
    for line in (first + other).splitlines():
        size, time_ps = line.split()
        alone_s = time_at_s(curve, int(size))
        added.append((float(time_ps) * 1e-12 - alone_s) / (alone_s - OVERHEADS_S))
    # Twice as many messages as rounds, of two runs, each with a deviation of the mean itself.
    error = SHARE / math.sqrt(2 * 2 * ROUNDS * SIZES)
    assert len(added) == 2 * SIZES
    assert fmean(added) == pytest.approx(SHARE, abs=4 * error)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--noise", "1100%"], "take a share up to 1000%"),
        (["--noise", "much"], "'much' is not a share"),
        (["--noise", "1%", "--seed", str(2**63)], "a seed up to 9223372036854775807"),
        (["--seed", "3"], "--seed is that of a noise, and there is none; add --noise 10%"),
    ],
)
def test_what_is_no_noise_is_refused(
    call: Callable[..., Any], words: list[str], message: str
) -> None:
    ended = call("try", "--machine", "sp2-mpl", *words, "--", "true")
    assert ended.code == 2
    assert message in ended.err
