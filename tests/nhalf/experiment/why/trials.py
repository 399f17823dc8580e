"""Trials of the whole search with planted causes: was the right set named?"""

from __future__ import annotations

import math
import random
from dataclasses import dataclass

from nhalf.experiment.why.explanation import Investigation
from nhalf.experiment.why.switch import turns_of
from tests.nhalf.experiment.why.plant import Planted, switches

KINDS = ("equal", "one", "two", "pair", "opposed")
"""Nothing; one switch; two that add up; two with an effect only together; one against another."""


@dataclass(frozen=True)
class Trial:
    """What was planted, and what was named."""

    planted: frozenset[int]
    named: frozenset[int]
    investigation: Investigation

    @property
    def is_right(self) -> bool:
        """Whether exactly the planted switches are named."""
        return self.planted == self.named

    @property
    def is_wrong(self) -> bool:
        """Whether a switch without an effect is accused."""
        return bool(self.named - self.planted)


def planted_effects(kind: str, draw: random.Random, number: int) -> dict[frozenset[int], float]:
    """Effects of 10 to 100 %, in either direction, of switches chosen at random."""
    sign = draw.choice((-1, 1))
    first, second = draw.sample(range(number), 2)
    log, other_log = (sign * math.log(draw.uniform(1.1, 2.0)) for _ in range(2))
    if kind == "equal":
        return {}
    if kind == "one":
        return {frozenset([first]): log}
    if kind == "two":
        return {frozenset([first]): log, frozenset([second]): other_log}
    if kind == "pair":
        return {frozenset([first, second]): log}
    opposed = {first: math.log(draw.uniform(1.5, 2.0)), second: -math.log(draw.uniform(1.1, 1.3))}
    return {frozenset([place]): sign * effect for place, effect in opposed.items()}


def trial(kind: str, seed: int, number: int = 20, noise: float = 1.0) -> Trial:
    """One search among `number` switches; without `noise` times are exact."""
    draw = random.Random(f"{kind} {seed}")
    effects = planted_effects(kind, draw, number)
    program = Planted(effects, seed, noise)
    turns = turns_of(program.launch, are_exact=not noise, seed=seed)
    investigation = Investigation(turns, switches(number))
    investigation.run()
    suspects = (proof.suspects for proof in investigation.proofs)
    return Trial(frozenset().union(*effects), frozenset().union(*suspects), investigation)
