# SPDX-License-Identifier: Apache-2.0
"""Sizes as users write them: a range, a list, a fine grid, or by what they are for."""

from __future__ import annotations

import os
from dataclasses import dataclass

from nhalf.base.errors import InputError
from nhalf.base.units import parse_size
from nhalf.sites.environment import cache_bytes
from nhalf.sites.topology import allowed_cpus, last_level_caches

SIZES_MAX = 100_000
B_EFF = "b_eff"
B_EFF_SHARE = 128
"""The longest message of b_eff is this share of the memory of a process,"""
B_EFF_BYTES_MAX = 128 << 20
"""and never longer than this."""
MEMORY = "memory"
CACHES_PER_ARRAY = 4
"""An array that is to be read from memory is this many times as large as all last-level caches."""
ARRAY_SHARE = 8
"""It is no larger than this share of the memory: a probe takes no more for one buffer."""
UNKNOWN_CACHE_BYTES = 32 << 20


@dataclass(frozen=True)
class Sizes:
    """Sizes in bytes, increasing; `adaptive` where further ones may be put in between."""

    size_bytes: tuple[int, ...]
    adaptive: bool


def parse_sizes(text: str) -> Sizes:
    """'0:4M' (powers of two, then refined), '0,8,4K' (just these) or '0:2000:1' (every one).

    Raises InputError if the text is none of these or holds too many sizes.
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


def sizes_of(text: str, ranks: int) -> Sizes:
    """As `parse_sizes`; 'b_eff' has its lengths for this many ranks on this machine.

    'b_eff:8M' names the longest length instead of taking it from the memory. 'memory' is the size
    of an array that no cache of this machine holds.
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
    """The longest length of b_eff, bytes, for ranks that share the memory of a host."""
    return min(host_bytes // ranks // B_EFF_SHARE, B_EFF_BYTES_MAX)


def b_eff_lengths(longest_bytes: int) -> tuple[int, ...]:
    """The 21 lengths of b_eff: 1, 2, 4 to 4096 B, then eight equal factors up to the longest.

    R. Rabenseifner, A. Koniges: Effective communication and file-I/O bandwidth benchmarks,
    Euro PVM/MPI 2001.
    """
    factor = (longest_bytes / 4096) ** (1 / 8)
    return (*(1 << k for k in range(13)), *(round(4096 * factor**j) for j in range(1, 9)))


def array_bytes(all_caches_bytes: int, host_bytes: int) -> int:
    """The size of one array of STREAM, in whole MiB: four times all caches, if memory allows.

    J. D. McCalpin, STREAM's run rules: each array is at least four times the sum of all last-level
    caches.
    """
    wanted = min(CACHES_PER_ARRAY * all_caches_bytes, host_bytes // ARRAY_SHARE)
    return max(1, wanted >> 20) << 20


def last_level_bytes() -> int:
    """All last-level caches of the cores that may be used; 32 MiB where nothing is known."""
    largest = max(cache_bytes().values(), default=UNKNOWN_CACHE_BYTES)
    return largest * len(last_level_caches(allowed_cpus()))


def memory_bytes() -> int:
    """The memory of this host."""
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _powers_of_two(low: int, high: int) -> tuple[int, ...]:
    """Both ends and every power of two between them."""
    powers = {1 << exponent for exponent in range(41)}
    return tuple(sorted({low, high} | {power for power in powers if low < power < high}))
