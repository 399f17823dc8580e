"""What carries the data, by one name."""

from __future__ import annotations

import pytest

from nhalf.base.carrier import carrier


@pytest.mark.parametrize(
    ("mpi", "transport", "name"),
    [
        ("mpich-5.0.2", "mpi", "mpich-5.0.2"),
        ("mpich-5.0.2", "rma", "mpich-5.0.2 rma"),
        ("mpich-5.0.2", "mpi+threads", "mpich-5.0.2 mpi+threads"),
        ("altix-bx2", "simulated", "altix-bx2"),
        ("ConvexPVM", "pvm", "ConvexPVM"),
        ("", "shm", "shm"),
        (None, "tcp", "tcp"),
    ],
)
def test_a_library_goes_by_its_name_and_what_is_not_its_messages_is_said(
    mpi: str | None, transport: str, name: str
) -> None:
    assert carrier(mpi, transport) == name
