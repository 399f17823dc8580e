"""Closed forms of traffic against published counts; programs are counted in measure/apps."""

from __future__ import annotations

import math

import pytest

from nhalf.models.npb.problems import problem
from nhalf.models.npb.traffic import KERNELS, sends, traffic_of

PUBLISHED = [
    ("cg", "A", 4, 1680, 1680, 27737),
    ("cg", "A", 16, 2944, 2944, 11874),
    ("cg", "B", 64, 19988, 19988, 29663),
    ("mg", "A", 4, 714, 714, 44844),
    ("mg", "B", 16, 2670, 2964, 16859),
    ("lu", "A", 16, 31632, 63264, 1926),
    ("lu", "B", 64, 50708, 101416, 1537),
    ("bt", "A", 4, 2418, 2418, 117103),
    ("bt", "B", 64, 9654, 9654, 32119),
    ("sp", "A", 4, 4818, 4818, 102438),
    ("sp", "B", 64, 19254, 19254, 28899),
]
"""Messages of the rank with the fewest and with the most, and their mean bytes, of NPB 3.4."""


@pytest.mark.parametrize(("kernel", "name", "ranks", "fewest", "most", "mean_bytes"), PUBLISHED)
def test_messages_are_those_of_the_reference(
    kernel: str, name: str, ranks: int, fewest: int, most: int, mean_bytes: int
) -> None:
    of_ranks = [sends(traffic_of(problem(kernel, name), rank, ranks)) for rank in range(ranks)]
    messages = [traffic.total() for traffic in of_ranks]
    total = sum(size * times for traffic in of_ranks for (_, _, size), times in traffic.items())
    assert (min(messages), max(messages)) == (fewest, most)
    assert total / sum(messages) == pytest.approx(mean_bytes, abs=1.5)


def test_class_s_on_four_ranks() -> None:
    messages = {kernel: sends(traffic_of(problem(kernel, "S"), 0, 4)).total() for kernel in KERNELS}
    assert messages == {
        **{"ep": 0, "ft": 0, "is": 1, "cg": 1680, "mg": 444},
        **{"bt": 738, "sp": 1218, "lu": 1128},
    }


def test_totals_are_those_of_the_formulas() -> None:
    """With d neighbours, a rank of LU sends d ((n - 2) (steps + 1) + steps + 4) messages."""
    for ranks in (4, 9, 16):
        q = math.isqrt(ranks)
        for rank in range(ranks):
            total = 6 * (60 + 2) + 6 * (q - 1) * (60 + 1)
            assert sends(traffic_of(problem("bt", "S"), rank, ranks)).total() == total
    for ranks in (2, 4, 8, 16, 32):
        steps = ranks.bit_length() // 2
        for rank in range(ranks):
            total = (79 * steps + 26) * (15 + 1)
            assert sends(traffic_of(problem("cg", "S"), rank, ranks)).total() == total


@pytest.mark.parametrize("kernel", ["cg", "bt"])
@pytest.mark.parametrize("ranks", [4, 16, 64])
def test_every_rank_receives_as_much_as_it_sends(kernel: str, ranks: int) -> None:
    sent, received = [0] * ranks, [0] * ranks
    for rank in range(ranks):
        for (_, peer, size), times in sends(traffic_of(problem(kernel, "A"), rank, ranks)).items():
            sent[rank] += size * times
            received[peer] += size * times
    assert sent == received


def test_a_rank_alone_sends_nothing_but_a_vector_to_itself() -> None:
    for kernel in KERNELS:
        messages = sends(traffic_of(problem(kernel, "S"), 0, 1))
        assert messages == ({("send", 0, 8 * 1400): 26 * 16} if kernel == "cg" else {})


def test_planes_that_ranks_share_are_transposed_twice() -> None:
    """Class W of FT has 32 planes: of 64 ranks two share one."""
    rank_bytes = 16 * 128 * 128 * 32 // 64
    assert traffic_of(problem("ft", "W"), 5, 64) == {
        ("alltoall", -1, rank_bytes // 2): 6 + 2,
        ("alltoall", -1, rank_bytes // 32): 6 + 2,
        ("reduce", -1, 16): 6,
    }
