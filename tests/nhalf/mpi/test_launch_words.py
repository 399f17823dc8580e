"""Which options place ranks on hosts, of every launcher."""

from __future__ import annotations

import pytest

from nhalf.mpi.launch_words import in_blocks, in_turn, placement_words
from tests.nhalf.experiment.improve.listed_tuner import library


@pytest.mark.parametrize(
    ("family", "vendor", "options"),
    [
        ("hydra", "mpich", ("-ppn 3", "-ppn 1", "-rankmap 0,1,1,0,1,0")),
        ("hydra", "intel", ("-ppn 3", "-ppn 1", None)),
        ("openmpi", "openmpi", ("--map-by ppr:3:node", "--map-by node", None)),
        ("srun", "mpich", ("--distribution=block", "--distribution=cyclic", None)),
        ("try", "mpich", ("--placement 2x3", "--placement 2x3:cyclic", "--placement 0,1,1,0,1,0")),
        ("", "mpich", (None, None, None)),
    ],
)
def test_each_launcher_has_its_words(
    family: str, vendor: str, options: tuple[str | None, ...]
) -> None:
    placements = (in_blocks(2, 6), in_turn(2, 6), [0, 1, 1, 0, 1, 0])
    for placed, expected in zip(placements, options, strict=True):
        words = placement_words(family, library(vendor), placed)
        assert (" ".join(words.options) if words else None) == expected


def test_hosts_of_unequal_numbers_of_ranks_are_a_list() -> None:
    words = placement_words("try", None, [0, 0, 0, 1])
    assert words is not None
    assert words.options == ("--placement", "0,0,0,1")
    assert placement_words("srun", None, [0, 0, 0, 1]) is None


def test_one_rank_on_each_host_is_a_block() -> None:
    assert in_blocks(3, 3) == in_turn(3, 3) == [0, 1, 2]
    words = placement_words("hydra", library("intel"), [0, 1, 2])
    assert words is not None
    assert words.options == ("-ppn", "1")
