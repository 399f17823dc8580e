"""Every shape is named right from messages in closed form, and what has none is not named."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence

import numpy as np
import pytest

from nhalf.facts.program.shape.naming import IRREGULAR, NONE, PAIR, shape_of
from tests.nhalf.traced_programs import Sends, sends_of

Targets = Callable[[int], Iterable[int]]


def matrix(ranks: int, sends: Sends) -> np.ndarray[tuple[int, int], np.dtype[np.float64]]:
    made = np.zeros((ranks, ranks))
    for (source, target), count in sends.items():
        made[source, target] += count
    return made


def named(ranks: int, targets: Targets, count: int = 10) -> str:
    return shape_of(matrix(ranks, sends_of(ranks, targets, count))).name


def grid(
    dimensions: Sequence[int], steps: Iterable[Sequence[int]], periodic: bool = False
) -> Targets:
    """The ranks at some steps in a grid."""
    steps = list(steps)

    def targets(rank: int) -> Iterable[int]:
        place = np.unravel_index(rank, dimensions)
        for step in steps:
            other = [int(a) + b for a, b in zip(place, step, strict=True)]
            if periodic:
                other = [a % extent for a, extent in zip(other, dimensions, strict=True)]
            if all(0 <= a < extent for a, extent in zip(other, dimensions, strict=True)):
                yield int(np.ravel_multi_index(other, dimensions))

    return targets


def faces(number: int) -> list[tuple[int, ...]]:
    return [
        tuple(sign if axis == at else 0 for axis in range(number))
        for at in range(number)
        for sign in (1, -1)
    ]


@pytest.mark.parametrize("ranks", [3, 5, 8, 16, 17])
def test_rings_and_chains(ranks: int) -> None:
    assert named(ranks, lambda rank: [(rank + 1) % ranks]) == "ring"
    if ranks > 3:
        assert named(ranks, lambda rank: [(rank + 1) % ranks, (rank - 1) % ranks]) == "ring"
        assert named(ranks, lambda rank: [rank + 1] if rank + 1 < ranks else []) == "chain"


@pytest.mark.parametrize("periodic", [True, False])
@pytest.mark.parametrize("dimensions", [(3, 3), (4, 4), (8, 4), (3, 5), (4, 4, 4), (3, 4, 5)])
def test_stencils_of_faces(dimensions: tuple[int, ...], periodic: bool) -> None:
    ranks, number = int(np.prod(dimensions)), len(dimensions)
    made = matrix(ranks, sends_of(ranks, grid(dimensions, faces(number), periodic)))
    found = shape_of(made)
    assert found.name == f"{number}-D stencil"
    assert " x ".join(map(str, dimensions)) in found.words
    assert ("periodic" in found.words) == periodic
    assert found.share == 1


def test_a_stencil_in_four_dimensions() -> None:
    assert named(81, grid((3, 3, 3, 3), faces(4), periodic=True)) == "4-D stencil"


def test_stencils_with_corners() -> None:
    steps = [step for step in itertools.product((-1, 0, 1), repeat=2) if any(step)]
    found = shape_of(matrix(20, sends_of(20, grid((4, 5), steps))))
    assert (found.name, "4 diagonal" in found.words) == ("2-D stencil", True)


def test_a_multipartition_has_one_diagonal() -> None:
    steps = [*faces(2), (1, -1), (-1, 1)]
    found = shape_of(matrix(16, sends_of(16, grid((4, 4), steps, periodic=True))))
    assert (found.name, "2 diagonal" in found.words) == ("2-D stencil", True)


def test_multigrid_sends_on_several_levels() -> None:
    steps = [tuple(2**level * value for value in step) for step in faces(3) for level in (0, 1)]
    found = shape_of(matrix(64, sends_of(64, grid((4, 4, 4), steps))))
    assert (found.name, "multigrid" in found.words) == ("3-D stencil", True)


def test_messages_in_one_direction_are_a_wavefront() -> None:
    assert named(16, grid((4, 4), [(1, 0), (0, 1)])) == "wavefront"
    assert named(64, grid((4, 4, 4), [(-1, 0, 0), (0, -1, 0), (0, 0, -1)])) == "wavefront"


def bits_of(ranks: int) -> int:
    return (ranks - 1).bit_length()


def reversed_bits(rank: int, bits: int) -> int:
    return int(f"{rank:0{bits}b}"[::-1], 2)


def rotated(rank: int, bits: int, by: int) -> int:
    return rank >> by | (rank & ((1 << by) - 1)) << (bits - by)


def swapped(rank: int, bit: int) -> int:
    differ = (rank >> bit ^ rank) & 1
    return rank ^ differ << bit ^ differ


@pytest.mark.parametrize("ranks", [8, 16, 32, 64])
def test_permutations(ranks: int) -> None:
    bits = bits_of(ranks)
    assert named(ranks, lambda rank: [reversed_bits(rank, bits)]) in (
        ("bit-reversal",) if bits > 3 else ("bit-reversal", "butterfly")
    )
    assert named(ranks, lambda rank: [ranks - 1 - rank]) == "complement"
    assert named(ranks, lambda rank: [rank ^ 1]) == "neighbour"
    assert named(ranks, lambda rank: [rank ^ 4]) == "cube"
    assert named(ranks, lambda rank: [swapped(rank, 1)]) == "butterfly"
    assert named(ranks, lambda rank: [rotated(rank, bits, bits - 1)]) == "shuffle"
    if bits > 3:
        assert named(ranks, lambda rank: [rotated(rank, bits, bits // 2)]) == "transpose"
        low = (1 << (bits - 1)) - 1
        baseline = named(ranks, lambda r: [r & ~low | rotated(r & low, bits - 1, 1)])
        assert baseline == "baseline"


def test_a_transpose_needs_no_power_of_two() -> None:
    assert named(25, lambda rank: [rank % 5 * 5 + rank // 5]) == "transpose"


@pytest.mark.parametrize("ranks", [8, 16, 64])
def test_butterflies(ranks: int) -> None:
    assert named(ranks, lambda rank: [rank ^ 1 << k for k in range(bits_of(ranks))]) == "butterfly"
    assert named(ranks, lambda rank: [rank ^ 1, rank ^ 2]) == "butterfly"


def faces_of_eight(sizes: Sequence[float]) -> str:
    """What eight ranks do that exchange messages of one size along each bit of their number."""
    messages = matrix(8, sends_of(8, lambda rank: [rank ^ 1 << k for k in range(3)]))
    distance = np.arange(8)[:, None] ^ np.arange(8)
    each = np.zeros((8, 8))
    for bit, size in enumerate(sizes):
        each[distance == 1 << bit] = size
    return shape_of(messages, messages * each).words


def test_faces_of_different_sizes_are_a_grid() -> None:
    # Multigrid of 32 x 32 x 32 points: the planes grow with every dimension that was exchanged.
    grid = "3-D stencil on 2 x 2 x 2 ranks"
    assert faces_of_eight([18 * 18 * 8, 18 * 16 * 8, 16 * 16 * 8]) == grid
    assert faces_of_eight([8, 8, 8]).startswith("butterfly")
    assert faces_of_eight([1024, 512, 256]).startswith("butterfly")


@pytest.mark.parametrize("ranks", [8, 12, 16])
def test_dissemination_and_shifts(ranks: int) -> None:
    powers = [1 << k for k in range((ranks - 1).bit_length())]
    assert named(ranks, lambda rank: [(rank + k) % ranks for k in powers]) == "dissemination"
    assert named(ranks, lambda rank: [(rank + 3) % ranks]) == "shift"


@pytest.mark.parametrize("ranks", [4, 7, 16])
def test_everybody_to_everybody(ranks: int) -> None:
    assert named(ranks, lambda rank: range(ranks)) == "all-to-all"


def test_groups() -> None:
    assert named(16, lambda rank: range(rank // 4 * 4, rank // 4 * 4 + 4)) == "all-to-all"
    assert named(16, lambda rank: range(rank % 4, 16, 4)) == "all-to-all"


def test_master_and_workers() -> None:
    sends = {(0, rank): 5 + rank for rank in range(1, 12)}
    sends |= {(rank, 0): 5 + rank for rank in range(1, 12)}
    assert shape_of(matrix(12, sends)).name == "master-worker"


@pytest.mark.parametrize("ranks", [8, 11, 16])
def test_a_binomial_tree(ranks: int) -> None:
    assert named(ranks, lambda rank: [rank & (rank - 1)]) == "binomial tree"


@pytest.mark.parametrize("ranks", [4, 16])
def test_conjugate_gradients_are_butterflies_and_a_transpose(ranks: int) -> None:
    """CG of the NAS Parallel Benchmarks: exchanges in a row, and one across the diagonal."""
    side = int(ranks**0.5)
    row = [1 << k for k in range(side.bit_length() - 1)]
    sends = dict(sends_of(ranks, lambda rank: [rank ^ k for k in row], 520))
    for pair, count in sends_of(
        ranks, lambda rank: [rank % side * side + rank // side], 26
    ).items():
        sends[pair] = sends.get(pair, 0) + count
    found = shape_of(matrix(ranks, sends)).name
    assert found == ("butterfly and transpose" if ranks > 4 else "neighbour and transpose")


def test_a_rare_message_does_not_hide_the_shape() -> None:
    sends = dict(sends_of(16, lambda rank: [(rank + 1) % 16], 1000)) | {(3, 9): 2, (11, 2): 1}
    assert shape_of(matrix(16, sends)).name == "ring"


@pytest.mark.sampled(4)
@pytest.mark.parametrize("messages", [3, 20, 500])
@pytest.mark.parametrize("ranks", [6, 8, 16, 64])
def test_random_traffic_is_not_named(ranks: int, messages: int) -> None:
    random = np.random.default_rng(1)
    names = set()
    for _ in range(10):
        made = np.zeros((ranks, ranks))
        for rank in range(ranks):
            others = random.integers(0, ranks - 1, messages)
            np.add.at(made[rank], others + (others >= rank), 1)
        names.add(shape_of(made).name)
    assert names == {IRREGULAR}


def test_few_ranks_and_no_messages() -> None:
    assert shape_of(np.zeros((4, 4))).name == NONE
    assert shape_of(np.array([[3.0]])).name == NONE
    assert shape_of(np.array([[0.0, 2.0], [2.0, 0.0]])).name == PAIR
