"""Communicators that work at once: what they leave of each other's rates."""

from __future__ import annotations

import pytest

from nhalf.decide.program.costs import MachineCosts
from nhalf.decide.program.crowding import followed_ratio, slower_ratios
from nhalf.machines import catalogue
from nhalf.machines.message import Messages

TREE = Messages(catalogue.machine("altix-bx2"))
NODES = [rank // 2 for rank in range(32)]
ROWS = [tuple(range(8 * row, 8 * row + 8)) for row in range(4)]
COLUMNS = [tuple(range(column, 32, 8)) for column in range(8)]


def of(groups: list[tuple[int, ...]], on: Messages = TREE) -> list[float]:
    found = slower_ratios(on, [("MPI_Allreduce", group, 8) for group in groups], NODES)
    return list(found.values())


def test_communicators_share_the_cables_between_their_switches() -> None:
    # A row has the nodes of one switch for itself; eight columns share what leads to the other one.
    assert of(ROWS) == pytest.approx([1.0] * 4)
    columns = of(COLUMNS)
    assert len(columns) == 4, "two columns have the same nodes"
    assert min(columns) > 2 and max(columns) <= 8
    assert min(of(COLUMNS[:2])) < min(columns)


def test_who_works_alone_shares_nothing() -> None:
    assert of([]) == of(COLUMNS[:1]) == []
    assert of([(0, 8), (0, 16)]) == [], "rank 0 does one after the other"
    works = [("MPI_Allreduce", COLUMNS[0], 8), ("MPI_Bcast", COLUMNS[1], 8)]
    assert slower_ratios(TREE, works, NODES) == {}
    one_each = Messages(catalogue.machine("opteron-myrinet"))
    works = [("MPI_Allreduce", group, 8) for group in COLUMNS]
    alone = slower_ratios(one_each, works, list(range(32)))
    assert list(alone.values()) == pytest.approx([1.0] * 8)


def test_what_columns_leave_of_each_other_is_followed_by_messages() -> None:
    nodes = [tuple(NODES[rank] for rank in group) for group in COLUMNS]
    ways = [f"bcast {name} 524288 0" for name in ("chain", "binomial")]
    chain, binomial = (followed_ratio(TREE, nodes, nodes[0], [way]) for way in ways)
    assert chain and binomial and 1 < chain < binomial < 8
    assert followed_ratio(TREE, nodes, nodes[0], ways) == chain
    assert followed_ratio(TREE, nodes[:1], nodes[0], ways) == pytest.approx(1)
    assert followed_ratio(TREE, nodes, nodes[0], []) is None


@pytest.mark.parametrize(("guess_ratio", "time_s"), [(0.5, 1.0), (1.0, 2.0), (2.0, 4.0)])
def test_a_crowded_operation_is_a_guess_up_to_its_most(guess_ratio: float, time_s: float) -> None:
    costs = MachineCosts(TREE, ["0", "1"], guess_ratio=guess_ratio)
    costs.asks(
        lambda *work: (1.0, "ring"),
        lambda *work: 1.0,
        lambda *work: (2.0, 4.0),
        where_measured=True,
    )
    assert costs.collective_s("MPI_Allreduce", (0, 1), 8) == pytest.approx(time_s)
    assert costs.guessed == {"allreduce"}
