"""Names that are unknown, and names that are known by their beginning."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError, library_named, unknown

NAMES = (
    "mpich-5.0.2",
    "openmpi-4.1.6",
    "openmpi-5.0.11",
    "intel-2021",
    "intel-2021+eager",
    "openmpi-5.0.10-path-99",
)


@pytest.mark.parametrize(
    ("name", "library"),
    [
        ("mpich", "mpich-5.0.2"),
        ("intel", "intel-2021"),
        ("intel-2021+eager", "intel-2021+eager"),
        ("openmpi-4.1.6", "openmpi-4.1.6"),
        ("openmpi", "openmpi-5.0.11"),
        ("openmpi-4", "openmpi-4.1.6"),
        ("openmpi-5", "openmpi-5.0.11"),
        ("openmpi-5.0", "openmpi-5.0.11"),
    ],
)
def test_a_short_name_is_the_newest_library_of_that_name(name: str, library: str) -> None:
    assert library_named(name, NAMES) == library


@pytest.mark.parametrize("name", ["mpi", "openmpi-4.1.60", "open", ""])
def test_other_beginnings_are_unknown(name: str) -> None:
    with pytest.raises(InputError, match="unknown library"):
        library_named(name, NAMES)


def test_names_too_many_to_read_are_left_to_the_command_that_lists_them() -> None:
    many = [f"pattern-{number}" for number in range(100)]
    assert "see nhalf run --list for all 100" in str(
        unknown("thing", "?", many, "nhalf run --list")
    )
    assert "known are a, b" in str(unknown("thing", "?", ["b", "a"], "nhalf run --list"))


def test_a_question_ends_with_its_own_mark() -> None:
    assert str(InputError("on which machine?", "name one")) == "on which machine? name one"
    assert str(InputError("no such file", "name another")) == "no such file; name another"
