# SPDX-License-Identifier: Apache-2.0
"""What kernels of the NAS Parallel Benchmarks send, counted beneath them in class S.

Whole runs, with the iteration that is not timed: by rank partners, sizes and how often.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from nhalf.measure.probe.subject import Subject
from npb_traffic import Traffic, box, layers, sends_of_cg
from tests.nhalf.measure.apps.counting import collectives, counted, sends

RANKS = [4, *(pytest.param(ranks, marks=pytest.mark.full) for ranks in (8, 16))]


def test_ep_adds_four_times(subject: Subject, counter: Path) -> None:
    for found in counted(subject, counter, "ep", 3):
        assert collectives(found) == {("allreduce", 8): 3, ("allreduce", 80): 1}
        assert not sends(found)


@pytest.mark.parametrize("ranks", RANKS)
def test_cg_sends_in_butterflies_and_transposes(
    subject: Subject, counter: Path, ranks: int
) -> None:
    steps = ranks.bit_length() // 2
    for rank, found in enumerate(counted(subject, counter, "cg", ranks)):
        assert found == sends_of_cg(rank, ranks)
        assert found.total() == (79 * steps + 26) * (15 + 1)


@pytest.mark.parametrize("ranks", RANKS)
def test_mg_swaps_layers_on_every_grid(subject: Subject, counter: Path, ranks: int) -> None:
    for rank, found in enumerate(counted(subject, counter, "mg", ranks)):
        expected: Traffic = Counter()
        for peer, size_bytes, times in layers(rank, ranks):
            expected["send", peer, size_bytes] += times
        given = sends(found) - expected
        assert not expected - found
        assert collectives(found) == {("allreduce", 8): 48, ("allreduce", 16): 40}
        if ranks <= 8:
            assert not given
            assert sends(found).total() == 6 * (4 + 5 * (3 * 5 - 1))
        else:
            # Of the coarsest grid half of the ranks have a plane, which they give to two others.
            assert given.total() == (10 if box(rank, ranks)[1][2] % 2 else 0)


@pytest.mark.parametrize("ranks", RANKS)
def test_ft_transposes_once_a_transform(subject: Subject, counter: Path, ranks: int) -> None:
    block_bytes = 16 * 64**3 // ranks**2
    for found in counted(subject, counter, "ft", ranks):
        assert collectives(found) == {("alltoall", block_bytes): 6 + 2, ("reduce", 16): 6}
        assert not sends(found)


@pytest.mark.full
def test_ft_transposes_twice_where_there_are_more_ranks_than_planes(
    subject: Subject, counter: Path
) -> None:
    """Class W has 32 planes: of 64 ranks two share one."""
    rank_bytes = 16 * 128 * 128 * 32 // 64
    for found in counted(subject, counter, "ft", 64, "W"):
        assert collectives(found) == {
            ("alltoall", rank_bytes // 2): 6 + 2,
            ("alltoall", rank_bytes // 32): 6 + 2,
            ("reduce", 16): 6,
        }


@pytest.mark.parametrize("ranks", RANKS)
def test_is_sends_all_keys_in_every_iteration(subject: Subject, counter: Path, ranks: int) -> None:
    keys_bytes = 4 * 2**16 // ranks
    for rank, found in enumerate(counted(subject, counter, "is", ranks)):
        assert collectives(found) == {
            ("allreduce", 4 * (512 + 5)): 11,
            ("alltoall", 4): 11,
            ("alltoallv", keys_bytes): 11,
        }
        last = rank == ranks - 1
        assert sends(found) == ({} if last else {("send", rank + 1, 4): 1})
