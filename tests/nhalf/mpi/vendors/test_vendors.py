"""What a library says of itself names it among those that a machine was measured with."""

from __future__ import annotations

import pytest

from nhalf.mpi.vendors import libraries_in

MEASURED = ["intel-2021.19.0", "mpich-4.1", "mpich-5.0.2", "openmpi-5.0.11", "threads"]


@pytest.mark.parametrize(
    ("said", "expected"),
    [
        ("MPICH Version:      5.0.2\nMPICH CC: cc", ["mpich-5.0.2"]),
        ("MPICH Version: 3.4", ["mpich-4.1", "mpich-5.0.2"]),
        ("Intel(R) MPI Library 2021.19 for Linux* OS\n", ["intel-2021.19.0"]),
        ("Open MPI v5.0.11, package: Open MPI user@localhost", ["openmpi-5.0.11"]),
        ("MVAPICH2 Version: 2.3", []),
        ("", []),
    ],
)
def test_libraries_by_what_they_say(said: str, expected: list[str]) -> None:
    assert libraries_in(said, MEASURED) == expected


def test_a_library_that_was_measured_in_several_ways_is_told_in_all() -> None:
    ways = ["mpich-5.0.2", "mpich-5.0.2+tuned", "mpich-5.0.2 rma"]
    assert libraries_in("MPICH Version: 5.0.2", ways) == ways[:2]
