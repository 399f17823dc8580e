"""The verdict on programs whose efficiencies, path and delays are known before they run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from nhalf.decide.program.basis import Efficiency, efficiency
from nhalf.facts.program.critical_path import CriticalPath, critical_path
from nhalf.facts.program.delays import delays
from nhalf.facts.program.program import Program
from nhalf.facts.program.waits import waits
from tests.nhalf.measure.virtual.programs import built
from tests.nhalf.measure.virtual.test_traced import traced

MS = 1e-3
EXACT = 1e-6
WITHIN_S, BETWEEN_S = 2e-6 + 8 / 5e9, 9e-6 + 8e-9
"""Half a round trip of 8 bytes on the plain machine."""
LARGE_S = 2e-6 + 1e6 / 5e9
"""The same of 1 MB within a node."""
Traced = Callable[[str], Program]


@pytest.fixture(scope="module")
def planted(programs: Path, plain: Path, tmp_path_factory: pytest.TempPathFactory) -> Traced:
    """Traces one of the programs of planted.cpp on 4 ranks, 2 on each node."""
    folder = tmp_path_factory.mktemp("verdicts")
    program = built("mpich", "planted", programs)
    return lambda word: traced(str(plain), "mpich", 4, folder / word, program, word)


def _known(program: Program) -> tuple[Efficiency, CriticalPath, list[float]]:
    """The tree, the path, and when each rank begins after the first one."""
    tree, path = efficiency(program), critical_path(program)
    assert tree is not None
    assert path is not None
    begins_s = [rank.begin_s for rank in program.trace.ranks]
    assert path.length_s == pytest.approx(program.elapsed_s, rel=EXACT)
    assert tree.parallel_share == pytest.approx(
        tree.load_balance_share * tree.communication_share, rel=EXACT
    )
    assert tree.serialisation_share is not None
    assert tree.transfer_share is not None
    both = tree.serialisation_share * tree.transfer_share
    assert tree.communication_share == pytest.approx(both, rel=EXACT)
    return tree, path, [begin_s - min(begins_s) for begin_s in begins_s]


def _caused_s(program: Program) -> dict[int, float]:
    """The waiting that each rank caused; all of it is charged once."""
    rows = {row["rank"]: row["waiting_s"] for row in delays(program).iter_rows(named=True)}
    found = waits(program)
    assert sum(rows.values()) == pytest.approx((found["to_s"] - found["from_s"]).sum(), rel=EXACT)
    return rows


def test_imbalance(planted: Traced) -> None:
    program = planted("imbalance")
    tree, path, begins_s = _known(program)
    assert tree.load_balance_share == pytest.approx(2.5 / 4, rel=EXACT)
    assert tree.communication_share == pytest.approx(4 * MS / program.elapsed_s, rel=EXACT)
    # No network makes the last rank end earlier.
    assert tree.serialisation_share == pytest.approx(4 * MS / (begins_s[3] + 4 * MS), rel=EXACT)
    assert path.computing_s == pytest.approx({3: 4 * MS}, rel=EXACT)
    assert list(path.calls_s) == ["MPI_Barrier"]
    caused_s = _caused_s(program)
    waiting_s = sum(begins_s[3] - begins_s[rank] + (3 - rank) * MS for rank in range(3))
    assert caused_s == pytest.approx({3: waiting_s, 0: 0, 1: 0, 2: 0}, rel=EXACT)


def test_a_late_sender(planted: Traced) -> None:
    program = planted("late")
    tree, path, begins_s = _known(program)
    elapsed_s = 4 * MS + WITHIN_S
    assert program.elapsed_s == pytest.approx(elapsed_s, rel=EXACT)
    assert tree.load_balance_share == pytest.approx(7 / 16, rel=EXACT)
    assert tree.serialisation_share == pytest.approx(1, rel=EXACT)
    assert tree.transfer_share == pytest.approx(4 * MS / elapsed_s, rel=EXACT)
    assert path.computing_s == pytest.approx({0: 4 * MS}, rel=EXACT)
    assert path.calls_s == pytest.approx({"MPI_Recv": WITHIN_S}, rel=EXACT)
    waiting_s = 3 * MS - begins_s[1]
    assert _caused_s(program) == pytest.approx({0: waiting_s, 1: 0, 2: 0, 3: 0}, rel=EXACT)


@pytest.mark.full
def test_a_pipeline(planted: Traced) -> None:
    program = planted("pipeline")
    tree, path, begins_s = _known(program)
    elapsed_s = 4 * MS + 2 * WITHIN_S + BETWEEN_S
    assert program.elapsed_s == pytest.approx(elapsed_s, rel=EXACT)
    assert tree.load_balance_share == pytest.approx(1, rel=EXACT)
    assert tree.serialisation_share == pytest.approx(1 / 4, rel=EXACT)
    assert tree.transfer_share == pytest.approx(4 * MS / elapsed_s, rel=EXACT)
    assert path.computing_s == pytest.approx(dict.fromkeys(range(4), MS), rel=EXACT)
    assert path.calls_s == pytest.approx({"MPI_Recv": 2 * WITHIN_S + BETWEEN_S}, rel=EXACT)
    # Each rank is waited for by all after it while it computes, or waits for its message; a rank
    # that begins late is waited for in MPI_Init.
    expected_s = {
        0: sum(MS - max(begins_s[1 : rank + 1]) for rank in (1, 2, 3)),
        1: 2 * (MS + WITHIN_S) + begins_s[1] - begins_s[2],
        2: MS + BETWEEN_S,
        3: 0.0,
    }
    assert _caused_s(program) == pytest.approx(expected_s, rel=EXACT)


@pytest.mark.full
def test_messages_that_take_long(planted: Traced) -> None:
    program = planted("transfer")
    tree, path, begins_s = _known(program)
    elapsed_s = begins_s[1] + MS + 20 * LARGE_S
    assert tree.load_balance_share == pytest.approx(1, rel=EXACT)
    assert tree.serialisation_share == pytest.approx(MS / (begins_s[1] + MS), rel=EXACT)
    assert tree.transfer_share == pytest.approx((begins_s[1] + MS) / program.elapsed_s, rel=EXACT)
    # Rank 0 begins first, so that its message is on its way when rank 1 looks for it.
    assert program.elapsed_s == pytest.approx(elapsed_s - begins_s[1], rel=EXACT)
    assert sum(path.computing_s.values()) + path.before_s == pytest.approx(
        MS + begins_s[1], rel=EXACT
    )
