"""What a file of lessons says to Python: the same as to the library that wrote it."""

from __future__ import annotations

from pathlib import Path

import pytest

from nhalf.mpi.preload import kept_lessons

VERSION = "Open MPI v5.0.11, package: Open MPI"
TEXT = """\
# nhalf lessons 1
# library ranks operation bytes_from way percent
Open-MPI-v5.0.11-123 2 bcast 64 shared-memory 36
Open-MPI-v5.0.11-123 2 barrier 0 native 250
Open-MPI-v5.0.11-123 4 reduce-scatter 65536 single-copy 120
Open-MPI-v5.0.1-123 8 scan 1 shared-memory 10
"""


def test_lessons_of_a_library_are_shares_of_its_own_time(tmp_path: Path) -> None:
    file = tmp_path / "lessons"
    file.write_text(TEXT)
    assert kept_lessons(file, VERSION) == {
        (2, "bcast", 64): 0.36,
        (2, "barrier", 0): 1.0,
        (4, "reduce-scatter", 65536): 1.0,
    }
    assert kept_lessons(file, "MPICH Version: 5.0.2") == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# nhalf lessons 2\nOpen-MPI-v5.0.11-123 2 bcast 64 shared-memory 36\n",
        f"{TEXT}Open-MPI-v5.0.11-123 2 bcast",
        TEXT.replace("36", "-1"),
        TEXT.replace("bcast", "\u00e4"),
    ],
)
def test_nothing_is_known_of_what_cannot_be_read(text: str, tmp_path: Path) -> None:
    file = tmp_path / "lessons"
    assert kept_lessons(file, VERSION) == {}
    file.write_text(text)
    assert kept_lessons(file, VERSION) == {}
