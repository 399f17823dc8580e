"""Characters that an encoding lacks are spelled out, so that units stay units."""

from __future__ import annotations

import pytest

from nhalf.base import printable


@pytest.mark.parametrize(
    ("text", "encoding", "spelled"),
    [
        ("43 µs", "ascii", "43 us"),
        ("43 μs", "latin-1", "43 us"),
        ("43 µs", "latin-1", "43 µs"),
        ("r∞ is ∞", "ascii", "r_inf is inf"),
        ("32 × 1 ± 3 %", "ascii", "32 x 1 +- 3 %"),
        ("n½, 10⁻¹², t₀", "ascii", "n1/2, 10^-12, t0"),
        ("▁█", "ascii", "18"),
        ("Übergröße", "ascii", "Ubergrosse"),
        ("漢", "ascii", "?"),
        ("", "ascii", ""),
    ],
)
def test_characters_are_spelled_out(text: str, encoding: str, spelled: str) -> None:
    printable.register()
    assert text.encode(encoding, printable.NAME).decode(encoding) == spelled


def test_bytes_that_cannot_be_decoded_are_no_matter_of_spelling() -> None:
    printable.register()
    with pytest.raises(UnicodeDecodeError):
        b"\xff".decode("ascii", printable.NAME)
