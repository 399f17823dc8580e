"""What a library says of itself, by the name that people use."""

from __future__ import annotations

import pytest

from nhalf.mpi.library_title import TITLE_MAX, library_title

DEBIAN = "Open MPI v4.1.4, package: Debian OpenMPI, ident: 4.1.4, repo rev: v4.1.4, May 26, 2022"
CRAY = "MPI VERSION    : CRAY MPICH version 8.1.25.17 (ANL base 3.4a2)"


@pytest.mark.parametrize(
    ("text", "title"),
    [
        (DEBIAN, "Open MPI 4.1.4"),
        ("Open MPI v5.0.7rc2, package: Open MPI me@here Distribution", "Open MPI 5.0.7rc2"),
        ("MPICH Version:      5.0.2 MPICH Release date: Mon Nov", "MPICH 5.0.2"),
        ("Intel(R) MPI Library 2021.19 for Linux* OS", "Intel MPI 2021.19"),
        (CRAY, "Cray MPICH 8.1.25.17"),
        ("MVAPICH Version:      4.0", "MVAPICH 4.0"),
        ("ParaStation MPI 5.11.0-1", "ParaStation MPI 5.11.0"),
        ("Open MPI", "Open MPI"),
        ("House MPI 1.2, built here", "House MPI 1.2"),
        ("mpich-5.0.2", "MPICH 5.0.2"),
        ("x" * 300, "x" * (TITLE_MAX - 1) + "…"),
        ("", ""),
    ],
)
def test_a_version_text_is_a_name_and_a_number(text: str, title: str) -> None:
    assert library_title(text) == title
