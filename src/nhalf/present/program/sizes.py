"""Sizes of messages from the smallest to the largest, in words."""

from __future__ import annotations

from nhalf.base.units import format_size

ROUNDED = 10.0
"""From this number on a size that is one of many needs no fraction."""


def size_span(least_bytes: int, most_bytes: int) -> str:
    """'98 to 291 KiB', '8 B to 4 KiB', or one size."""
    least, most = format_size(least_bytes), format_size(most_bytes)
    if least == most:
        return most
    (number, unit), (most_number, most_unit) = map(_rounded, (least, most))
    return f"{number if unit == most_unit else f'{number} {unit}'} to {most_number} {most_unit}"


def _rounded(size: str) -> tuple[str, str]:
    number, _, unit = size.partition(" ")
    return (f"{float(number):.0f}" if float(number) >= ROUNDED else number), unit
