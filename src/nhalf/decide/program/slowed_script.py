"""Scripts in which computing takes longer: on some ranks, or at random."""

from __future__ import annotations

import copy
from collections.abc import Callable, Collection
from dataclasses import replace

import numpy as np

from nhalf.base.arrays import Floats
from nhalf.facts.program.schedule import Actor
from nhalf.facts.program.script import Script


def with_slow_ranks(script: Script, ranks: Collection[int], share: float) -> Script:
    """All computing of some ranks takes longer by a share."""
    return _slowed(script, lambda actor: 1.0 + share * (actor.rank in ranks))


def with_noise(script: Script, share: float, seed: int) -> Script:
    """Each stretch of computing takes longer at random, exponentially distributed, by this share in
    the mean (S. Agarwal et al., The impact of noise on the scaling of collectives, HiPC 2005). A
    seed draws the same for every share.
    """

    def factors(actor: Actor) -> Floats:
        draws = np.random.default_rng([seed, actor.rank, actor.thread])
        return np.asarray(1.0 + share * draws.exponential(size=len(actor.before_s) + 1))

    return _slowed(script, factors)


def _slowed(script: Script, factors: Callable[[Actor], Floats | float]) -> Script:
    """The computing before each call, and after the last one, times the factors of its actor."""
    return replace(script, actors=[_actor(actor, factors(actor)) for actor in script.actors])


def _actor(actor: Actor, factors: Floats | float) -> Actor:
    # A copy keeps the columns that are made on first access.
    longer = copy.copy(actor)
    seconds = np.array([*actor.before_s, actor.after_s]) * factors
    longer.before_s, longer.after_s = seconds[:-1], float(seconds[-1])
    return longer
