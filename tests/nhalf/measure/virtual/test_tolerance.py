"""What a program tolerates, proven on a machine that is slower by just that."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.decide.program.slowdown import LATENCY, Slowdown
from nhalf.decide.program.tolerance_curves import LOSS, tolerance
from nhalf.facts.program.program import Program
from nhalf.machines import catalogue
from nhalf.machines.message import Messages
from tests.nhalf.conftest import MACHINE
from tests.nhalf.measure.virtual.programs import built
from tests.nhalf.measure.virtual.test_traced import traced

EXACT = 1e-6


def _elapsed_s(program: Program) -> float:
    """From the first rank's begin to the last end: ranks may leave MPI_Init at other times."""
    return max(rank.end_s for rank in program.trace.ranks) - program.trace.ranks[0].begin_s


@pytest.mark.full
@pytest.mark.parametrize(
    ("word", "messages"), [pytest.param("pipeline", 3, marks=pytest.mark.full), ("overlap", 0)]
)
def test_a_program_loses_a_hundredth_where_a_replay_says_so(
    word: str, messages: int, programs: Path, plain: Path, tmp_path: Path
) -> None:
    program = built("mpich", "planted", programs)
    usual = traced(str(plain), "mpich", 4, tmp_path / "usual", program, word)
    slowdown = Slowdown(usual, Messages(catalogue.machine(str(plain))))
    tolerated = tolerance(slowdown, LATENCY)
    assert tolerated.slope == pytest.approx(messages, abs=EXACT)
    added_s = tolerated.added
    assert added_s is not None
    slower = tmp_path / "slower.toml"
    text = MACHINE
    for t0_s in ("2e-6", "9e-6"):
        text = text.replace(f"t0_s = {t0_s}", f"t0_s = {float(t0_s) + added_s!r}")
    slower.write_text(text)
    lost = traced(str(slower), "mpich", 4, tmp_path / "slower", program, word)
    assert _elapsed_s(lost) == pytest.approx((1 + LOSS) * _elapsed_s(usual), rel=EXACT)
    times_s = [slowdown.at(LATENCY, amount) for amount in (0.0, added_s, 2 * added_s)]
    assert times_s[0] == pytest.approx(_elapsed_s(usual), rel=EXACT)
    assert times_s[1] == pytest.approx((1 + LOSS) * times_s[0], rel=EXACT)
    # It is convex: twice as much costs twice as much at least.
    assert times_s[2] - times_s[0] >= 2 * (times_s[1] - times_s[0]) * (1 - EXACT)
