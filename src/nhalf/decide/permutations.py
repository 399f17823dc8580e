"""Destinations of ranks in traffic: permutations of native/patterns/bases/traffic."""

from __future__ import annotations

import ctypes

import numpy as np

from nhalf.base.errors import InputError, unknown
from nhalf.base.native_files import library
from nhalf.machines.network import LIBRARY

RULES = (
    *("bit-reversal", "butterfly", "complement", "transpose", "shuffle", "neighbour", "cube"),
    *("baseline", "butterfly-all", "baseline-all"),
)
"""Butterfly, cube and baseline have the highest stage, or all stages one after the other; all
stages of cube are `complement`."""
UNIFORM = "uniform"
"""Any other rank, drawn for each message: no permutation."""
UNIFORM_RANKS_MAX = 128
"""More take a minute, for their many draws."""
ALL = "-all"
STAGED = {"butterfly": 2, "baseline": 2, "cube": 1, "butterfly-all": 2, "baseline-all": 2}
"""The least number of bits of rules with stages."""


def destinations(rule: str, ranks: int) -> list[tuple[int, int]]:
    """Pairs of source and destination; a rank that is its own destination sends nothing.

    The largest power of two of ranks takes part. Raises InputError for an unknown rule, and if no
    rank sends.
    """
    if rule not in RULES:
        raise unknown("permutation", rule, [*RULES, UNIFORM])
    if not _sends(rule, ranks):
        raise InputError(f"{rule} of {ranks} ranks sends nothing", "ask for more --ranks")
    return _pairs(rule, ranks)


def drawn_destinations(ranks: int, times: int) -> list[list[tuple[int, int]]]:
    """For this many times, pairs of every rank and another one, drawn alike on every machine.

    Raises InputError for more ranks than UNIFORM_RANKS_MAX.
    """
    if ranks > UNIFORM_RANKS_MAX:
        reason = f"uniform traffic of {ranks} ranks is not predicted"
        raise InputError(reason, f"ask for up to {UNIFORM_RANKS_MAX}, or simulate it")
    further = np.random.default_rng(1).integers(1, ranks, (times, ranks))
    receivers = (np.arange(ranks) + further) % ranks
    return [list(enumerate(row)) for row in receivers.tolist()]


def _pairs(rule: str, ranks: int) -> list[tuple[int, int]]:
    bits, name = ranks.bit_length() - 1, rule.removesuffix(ALL)
    receivers = (ctypes.c_int32 * (1 << bits))()
    library(LIBRARY).nhalf_permutation(name.encode(), bits, name != rule, receivers)
    return [(rank, to) for rank, to in enumerate(receivers) if rank != to]


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
