from nhalf.node.reading import CHASE, Reading, preempted_share, reading, warnings


def points(taken: int, alone: int) -> list[Reading]:
    counts = [3.0] * taken + [0.0] * alone
    return [reading(CHASE, 4096, {}, 0, [1e-9], {"preempted": count}) for count in counts]


def test_a_busy_neighbour_is_named() -> None:
    (said,) = warnings(points(taken=3, alone=7))
    assert "30 %" in said
    assert preempted_share(points(taken=3, alone=7)) == 0.3


def test_nothing_is_said_of_a_quiet_core() -> None:
    assert warnings(points(taken=1, alone=99)) == []
    assert warnings([]) == []
