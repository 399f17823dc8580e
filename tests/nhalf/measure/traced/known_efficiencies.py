"""Efficiencies of the programs of efficiencies.cpp in closed form: p ranks, R rounds, units of u.

A whole number of turns is needed: R a multiple of p for the barrier, and of 2 for late senders.
"""

from __future__ import annotations

from dataclasses import dataclass

from nhalf.decide.program.basis import Efficiency

ROUNDS = {"imbalance": 8, "barrier": 16, "pipeline": 32, "late": 8, "overlap": 32}
"""Programs, with rounds that take 32 units or more on 4 ranks, and suit 8 of them."""


@dataclass(frozen=True)
class Known:
    """The tree, and the time on a network on which nothing takes time, in units."""

    load_balance_share: float
    serialisation_share: float
    units: float

    def errors(self, tree: Efficiency, late_units: float = 0.0) -> dict[str, float]:
        """How far off each factor is, as a share.

        The last rank begins `late_units` after the first, and makes the run no longer than by that.
        """
        assert tree.serialisation_share is not None
        assert tree.transfer_share is not None
        low_share = self.serialisation_share * self.units / (self.units + late_units)
        nearest = min(max(tree.serialisation_share, low_share), self.serialisation_share)
        return {
            "load balance": tree.load_balance_share / self.load_balance_share - 1,
            "serialisation": tree.serialisation_share / nearest - 1,
            "transfer": tree.transfer_share - 1,
        }


def known(word: str, ranks: int, rounds: int) -> Known:
    """The closed form of a program."""
    return {
        # The last rank computes p units in each round, the mean is (p + 1) / 2.
        "imbalance": Known((ranks + 1) / 2 / ranks, 1.0, ranks * rounds),
        # Each rank computes 2 units in its turn, and 1 in the turns of the others.
        "barrier": Known(1.0, (1 + 1 / ranks) / 2, 2 * rounds),
        "pipeline": Known(1.0, rounds / (rounds + ranks - 1), rounds + ranks - 1),
        # In two rounds each of two computes 4 units and 1, while the other one waits or computes.
        "late": Known(1.0, 5 / 8, 4 * rounds),
        "overlap": Known(1.0, 1.0, rounds),
    }[word]
