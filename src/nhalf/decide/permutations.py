"""Destinations of ranks in traffic, as in native/patterns/bases/traffic/bit_permutations.hpp.

The bits of a rank are numbered from 0, the lowest. Definitions as in J. Duato, S. Yalamanchili,
L. Ni, Interconnection Networks: an Engineering Approach, Morgan Kaufmann 2003.
"""

from __future__ import annotations

from collections.abc import Callable

from nhalf.base.errors import InputError, unknown


def _rotated_right(rank: int, bits: int, by: int) -> int:
    """The low bits moved down; those that fall out come in at the top."""
    low = rank & ((1 << bits) - 1)
    return rank - low + ((low >> by) | (low << (bits - by)) % (1 << bits))


def _bit_reversal(rank: int, bits: int) -> int:
    return int(f"{rank:0{bits}b}"[::-1], 2)


def _butterfly(rank: int, bits: int) -> int:
    return _swapped(rank, bits - 1)


def _butterfly_all(rank: int, bits: int) -> int:
    for stage in range(1, bits):
        rank = _swapped(rank, stage)
    return rank


def _baseline_all(rank: int, bits: int) -> int:
    for stage in range(1, bits):
        rank = _rotated_right(rank, stage + 1, 1)
    return rank


def _swapped(rank: int, stage: int) -> int:
    """Bits `stage` and 0 change places."""
    differ = (rank >> stage ^ rank) & 1
    return rank ^ (differ << stage) ^ differ


RULES: dict[str, Callable[[int, int], int]] = {
    "bit-reversal": _bit_reversal,
    "butterfly": _butterfly,
    "complement": lambda rank, bits: rank ^ ((1 << bits) - 1),
    "transpose": lambda rank, bits: _rotated_right(rank, bits, bits // 2),
    "shuffle": lambda rank, bits: _rotated_right(rank, bits, bits - 1),
    "neighbour": lambda rank, _: rank ^ 1,
    "cube": lambda rank, bits: rank ^ (1 << (bits - 1)),
    "baseline": lambda rank, bits: _rotated_right(rank, bits, 1),
    "butterfly-all": _butterfly_all,
    "baseline-all": _baseline_all,
}
"""Destination by rank and number of bits; butterfly, cube and baseline have the highest stage, or
all stages one after the other; all stages of cube are `complement`."""
UNIFORM = "uniform"
"""Any other rank, drawn for each message: no permutation."""
UNIFORM_RANKS_MAX = 64
"""More would be thousands of flows for a bound."""
ALL = "-all"
STAGED = {"butterfly": 2, "baseline": 2, "cube": 1, "butterfly-all": 2, "baseline-all": 2}
"""The least number of bits of rules with stages."""


def destinations(rule: str, ranks: int) -> list[tuple[int, int]]:
    """Pairs of source and destination; a rank that is its own destination sends nothing.

    The largest power of two of ranks takes part. Raises InputError for an unknown rule, and if no
    rank sends.
    """
    if rule == UNIFORM:
        if ranks > UNIFORM_RANKS_MAX:
            reason = f"uniform traffic of {ranks} ranks is not predicted"
            raise InputError(reason, f"ask for up to {UNIFORM_RANKS_MAX}, or simulate it")
        return [(rank, to) for rank in range(ranks) for to in range(ranks) if rank != to]
    if rule not in RULES:
        raise unknown("permutation", rule, [*RULES, UNIFORM])
    if not _sends(rule, ranks):
        raise InputError(f"{rule} of {ranks} ranks sends nothing", "ask for more --ranks")
    return _pairs(rule, ranks)


def _pairs(rule: str, ranks: int) -> list[tuple[int, int]]:
    bits = ranks.bit_length() - 1
    pairs = [(rank, RULES[rule](rank, bits)) for rank in range(1 << bits)]
    return [(rank, to) for rank, to in pairs if rank != to]


def _sends(rule: str, ranks: int) -> bool:
    return ranks.bit_length() > STAGED.get(rule, 1) and bool(_pairs(rule, ranks))


def rules_of(rule: str, ranks: int) -> list[str]:
    """The requested rule; if none is, every rule by which some of these ranks send."""
    if rule:
        return [rule]
    rules = [name for name in RULES if _sends(name, ranks)]
    if not rules:
        raise InputError(f"no permutation of {ranks} ranks sends anything", "ask for more --ranks")
    return rules
