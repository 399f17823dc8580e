"""Long messages that are cut into pieces, which follow each other along a chain."""

from __future__ import annotations

import pytest

from tests.nhalf.measure.simulate.multicast.asking import (
    COSTS,
    FORWARD,
    LINK,
    O_R,
    O_S,
    RATE,
    RECEIVE,
    SEND,
    Ask,
    exactly,
    time_s,
)

PIECE, PIECES, HOPS = 10000, 6, 5
WIRE_S = PIECE / RATE
"""Longer than all that hosts and adapters do with a piece."""


@pytest.mark.parametrize(("forwarding", "next_s"), [("host", O_R + O_S + SEND), ("nic", FORWARD)])
def test_pieces_follow_each_other_along_a_chain(ask: Ask, forwarding: str, next_s: float) -> None:
    """The first takes the whole way, each other comes as far behind it as the source sends."""
    hop_s = WIRE_S + LINK + RECEIVE
    first_s = O_S + SEND + (HOPS - 1) * next_s + HOPS * hop_s + O_R
    record = ask("dimensions=6", "serial", HOPS, forwarding, PIECES * PIECE, COSTS, piece=PIECE)
    assert time_s(record) == exactly(first_s + (PIECES - 1) * (SEND + WIRE_S))
    copies = PIECES * (O_S * (HOPS if forwarding == "host" else 1) + HOPS * O_R)
    assert record["values"]["host_cpu_s"] == exactly(copies / (HOPS + 1))


def test_a_rest_is_a_piece_and_one_piece_is_the_whole(ask: Ask) -> None:
    rest = ask("switch=2", "separate", 1, "host", 2 * PIECE + 1000, COSTS, piece=PIECE)
    # The host still takes the second piece when the rest comes in.
    second_s = O_S + 2 * (SEND + WIRE_S) + 2 * LINK + RECEIVE
    assert SEND + 1000 / RATE < O_R
    assert time_s(rest) == exactly(second_s + 2 * O_R)
    whole = ask("dimensions=4x4", "mu-torus", 15, "host", PIECE)
    assert ask("dimensions=4x4", "mu-torus", 15, "host", PIECE, COSTS, piece=PIECE) == whole
    empty = ask("dimensions=4x4", "mu-torus", 15, "host", 0, COSTS, piece=PIECE)
    assert empty == ask("dimensions=4x4", "mu-torus", 15, "host", 0)


def test_paths_win_where_long_messages_are_cut(ask: Ask) -> None:
    """As the study of the SCI torus found: whole they lose to a tree, in pieces they lead it."""

    def of(algorithm: str, **axes: int) -> float:
        return time_s(ask("dimensions=4x4", algorithm, 15, "host", 10**6, COSTS, **axes))

    assert of("md-torus") > of("binomial")
    assert of("md-torus", piece=32768) < of("binomial", piece=32768)


def test_too_many_pieces_are_refused(ask: Ask) -> None:
    record = ask("switch=2", "separate", 1, "host", 10**9, COSTS, piece=1)
    assert record["nhalf"] == "error"
    assert "more than 100000 pieces" in record["message"]
