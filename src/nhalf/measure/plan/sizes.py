"""Sizes as users write them: a range, a list, a fine grid, or a purpose."""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass

from nhalf.base.errors import InputError
from nhalf.base.units import parse_size
from nhalf.sites.environment import cache_bytes
from nhalf.sites.topology import allowed_cpus, last_level_caches

SIZES_MAX = 100_000
B_EFF = "b_eff"
B_EFF_SHARE = 128
"""The longest message of b_eff is one in this many parts of a process's memory,"""
B_EFF_BYTES_MAX = 128 << 20
"""and at most this long."""
MEMORY = "memory"
CACHES_PER_ARRAY = 4
"""An array to be read from memory is this many times as large as all last-level caches."""
ARRAY_SHARE = 8
"""An array takes at most one in this many parts of the memory, a probe's limit for a buffer."""
UNKNOWN_CACHE_BYTES = 32 << 20


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes, increasing; `adaptive` if further sizes may be inserted."""

    size_bytes: tuple[int, ...]
    adaptive: bool


def parse_sizes(text: str) -> Sizes:
    """Parse '0:4M' (powers of two, then refined), '0,8,4K' (just these) or '0:2000:1' (all).

    Raises InputError if the text is none of these or has too many sizes.
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


def sizes_text(sizes: Iterable[int]) -> str:
    """Sizes in the notation of blocks."""
    return ",".join(map(str, sorted(set(sizes))))


def sizes_of(text: str, ranks: int) -> Sizes:
    """Parse sizes, or their purpose, for this many ranks on this machine.

    'b_eff' stands for the message lengths of that benchmark; 'b_eff:8M' sets the longest length
    instead of deriving it from the memory. 'memory' is the size of an array that no cache of this
    machine holds.
    """
    if text == MEMORY:
        return Sizes((array_bytes(last_level_bytes(), memory_bytes()),), adaptive=False)
    if text.partition(":")[0] != B_EFF:
        return parse_sizes(text)
    longest = text.partition(":")[2]
    longest_bytes = parse_size(longest) if longest else b_eff_longest(memory_bytes(), ranks)
    if longest_bytes <= 8192:
        raise InputError(f"{text!r} ends too early", "the longest length is 8K or more")
    return Sizes(b_eff_lengths(longest_bytes), adaptive=False)


def b_eff_longest(host_bytes: int, ranks: int) -> int:
    """Return the longest length of b_eff in bytes for ranks that share the memory of a host."""
    return min(host_bytes // ranks // B_EFF_SHARE, B_EFF_BYTES_MAX)


def b_eff_lengths(longest_bytes: int) -> tuple[int, ...]:
    """Return the 21 lengths of b_eff: 1, 2, 4 to 4096 B, then eight equal factors to the longest.

    R. Rabenseifner, A. Koniges: Effective communication and file-I/O bandwidth benchmarks,
    Euro PVM/MPI 2001.
    """
    factor = (longest_bytes / 4096) ** (1 / 8)
    return (*(1 << k for k in range(13)), *(round(4096 * factor**j) for j in range(1, 9)))


def array_bytes(all_caches_bytes: int, host_bytes: int) -> int:
    """Return the size of one array of STREAM, in whole MiB: four times all caches, if possible.

    J. D. McCalpin, STREAM's run rules: each array is at least four times the sum of all last-level
    caches.
    """
    size_bytes = min(CACHES_PER_ARRAY * all_caches_bytes, host_bytes // ARRAY_SHARE)
    return max(1, size_bytes >> 20) << 20


def last_level_bytes() -> int:
    """Return the total size of the usable last-level caches; 32 MiB each if unknown."""
    largest = max(cache_bytes().values(), default=UNKNOWN_CACHE_BYTES)
    return largest * len(last_level_caches(allowed_cpus()))


def memory_bytes() -> int:
    """Return the memory of this host in bytes."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _powers_of_two(low: int, high: int) -> tuple[int, ...]:
    """Return both ends and every power of two between them."""
    powers = {1 << exponent for exponent in range(41)}
    return tuple(sorted({low, high} | {power for power in powers if low < power < high}))
