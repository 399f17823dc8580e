"""The pairs of ranks that exchange messages, and whether a class of them behaves alike."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats

Integers = NDArray[np.int64]
PairMask = NDArray[np.bool_]

RARE_SHARE = 0.01
RARE = 0.1
"""Pairs with less than a tenth of the typical number of messages, which together have at most a
hundredth of all, are left out: a last message to a neighbour, the timing of a whole run."""
ALIKE_SHARE = 0.9
"""The share of a class's pairs with the same number of messages if a rule generates them."""
ALIKE = 0.01
"""Numbers of messages that differ by no more count as equal."""


@dataclass(frozen=True)
class Edges:
    """Directed pairs of different ranks, with the messages of each and their bytes, 0 if unknown;
    `ranks` is the total number.
    """

    ranks: int
    source: Integers
    target: Integers
    messages: Floats
    bytes: Floats

    @classmethod
    def of(cls, messages: Floats, sizes: Floats | None = None) -> Edges:
        """The pairs of a communication matrix, without those that hardly ever communicate."""
        counted = messages.copy()
        np.fill_diagonal(counted, 0.0)
        source, target = np.nonzero(counted)
        number = counted[source, target]
        rare = number < RARE * (np.median(number) if len(number) else 0)
        if number[rare].sum() > RARE_SHARE * number.sum():
            rare[:] = False
        source, target = source[~rare], target[~rare]
        pair_bytes = np.zeros(len(source)) if sizes is None else sizes[source, target]
        return cls(len(messages), source, target, number[~rare], pair_bytes)

    @cached_property
    def total(self) -> float:
        """The number of all messages."""
        return float(self.messages.sum())

    def share(self, mask: PairMask) -> float:
        """The share of messages between some of the pairs, 0 to 1."""
        return float(self.messages[mask].sum()) / self.total if self.total else 0.0

    def without(self, mask: PairMask) -> Edges:
        """Leave out the pairs of a mask."""
        remaining = ~mask
        source, target = self.source[remaining], self.target[remaining]
        pairs = (source, target, self.messages[remaining], self.bytes[remaining])
        return Edges(self.ranks, *pairs)

    def mean_bytes(self, mask: PairMask) -> float:
        """The mean size of the messages between some of the pairs."""
        messages = float(self.messages[mask].sum())
        return float(self.bytes[mask].sum()) / messages if messages else 0.0

    def are_alike(self, mask: PairMask) -> bool:
        """Whether nearly all of some pairs have the same number of messages, as if from a rule."""
        numbers = self.messages[mask]
        usual = np.median(numbers)
        is_alike = np.abs(numbers - usual) <= ALIKE * usual
        return bool(is_alike.mean() >= ALIKE_SHARE)
