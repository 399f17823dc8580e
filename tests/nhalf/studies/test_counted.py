"""What NPB sends, as numbers of a study: counted, the same on every machine."""

from __future__ import annotations

import pytest

from nhalf.base.errors import InputError
from nhalf.studies.counted import COUNTS, counted, is_counted
from nhalf.studies.form import Quantity
from nhalf.studies.recorded import RecordedMachine


def number(kernel: str, ranks: int, extra: str, name: str = "S") -> Quantity:
    return Quantity(pattern=f"npb-{kernel}", ranks=ranks, axes={"class": name}, extra=extra)


@pytest.mark.parametrize(
    ("kernel", "ranks", "extra", "expected"),
    [
        ("ep", 4, "sends_most", 0),  # sums only
        ("ep", 4, "partners_most", 0),
        ("is", 4, "sends_mean", 3 / 4),  # the last key goes to the next rank
        ("is", 4, "sends_least", 0),
        ("is", 4, "message_mean_bytes", 4),
        ("lu", 4, "partners_most", 2),  # two by two, without corners
        ("lu", 16, "partners_mean", (4 * 2 + 8 * 3 + 4 * 4) / 16),
        ("lu", 16, "partners_most", 4),
        ("bt", 9, "partners_most", 6),
    ],
)
def test_counts_are_those_of_the_decomposition(
    kernel: str, ranks: int, extra: str, expected: float
) -> None:
    value = counted(number(kernel, ranks, extra))
    assert (value.median, value.ends) == (expected, (expected, expected))
    assert (value.ranks, value.origin) == (ranks, "counted")


def test_a_record_answers_by_counting() -> None:
    asked = number("cg", 16, "sends_mean", "B")
    assert is_counted(asked)
    assert RecordedMachine("sp2-mpl").value(asked) == counted(asked)
    assert not is_counted(Quantity(pattern="npb-cg", axes={"class": "B"}))
    assert not is_counted(Quantity(pattern="bcast", extra="root_s"))


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (number("bt", 8, "sends_mean"), "bt does not run on 8 ranks"),
        (number("ft", 4, "message_mean_bytes"), "no rank sends to a single other"),
        (number("cg", 4, "sends_mean", "X"), "cg has no class X"),
    ],
)
def test_what_cannot_be_counted(asked: Quantity, words: str) -> None:
    with pytest.raises(InputError, match=words):
        counted(asked)


def test_names_end_in_their_units() -> None:
    assert {number("cg", 4, extra).unit for extra in COUNTS} == {"ratio", "bytes"}
