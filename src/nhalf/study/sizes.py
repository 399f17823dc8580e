# SPDX-License-Identifier: Apache-2.0
"""Message sizes as users write them: a range, a list or a fine grid."""

from __future__ import annotations

from dataclasses import dataclass

from nhalf.errors import InputError
from nhalf.units import parse_size

SIZES_MAX = 100_000


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes, increasing; `adaptive` where further ones may be put in between."""

    size_bytes: tuple[int, ...]
    adaptive: bool


def parse_sizes(text: str) -> Sizes:
    """'0:4M' (powers of two, then refined), '0,8,4K' (just these) or '0:2000:1' (every one).

    Raises InputError when the text is none of these or holds too many sizes.
    """
    if ":" not in text:
        return Sizes(tuple(sorted({parse_size(part) for part in text.split(",")})), adaptive=False)
    parts = [parse_size(part) for part in text.split(":")]
    if len(parts) not in (2, 3):
        raise InputError(f"{text!r} is not a range of sizes", "write 0:4M or 0:2000:1")
    low, high = parts[:2]
    if low > high:
        raise InputError(f"the range {text!r} ends before it begins", f"write {high}:{low}")
    if len(parts) == 2:
        return Sizes(_powers_of_two(low, high), adaptive=True)
    step = parts[2]
    if step == 0:
        raise InputError(f"the range {text!r} has a step of 0", "give a step of 1 or more")
    if (high - low) // step >= SIZES_MAX:
        raise InputError(f"{text!r} is more than {SIZES_MAX} sizes", "take a larger step")
    return Sizes(tuple(range(low, high + 1, step)), adaptive=False)


def _powers_of_two(low: int, high: int) -> tuple[int, ...]:
    """Both ends and every power of two between them."""
    powers = {1 << exponent for exponent in range(41)}
    return tuple(sorted({low, high} | {power for power in powers if low < power < high}))
