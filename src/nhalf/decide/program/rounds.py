"""How much a slow-down differs from one round of what a program repeats to the next.

Most programs repeat themselves: a call that comes back again and again divides the time into
rounds. What a replay loses in each is a sample; as many rounds drawn from it, with replacement, are
another run of a program like this one (the bootstrap: B. Efron, Annals of Statistics 7, 1979). What
is lost outside the rounds is taken as it is.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.decide.program.replay import Replay
from nhalf.facts.program.schedule import Actor

ROUNDS_MIN, ROUNDS_MAX = 5, 1000
COVERED_MIN = 0.25
"""Rounds that cover less of a program's time say nothing of it."""
UNEQUAL_MAX = 0.5
"""Rounds whose lengths have a larger deviation, over their mean, are no rounds."""
DRAWS = 400
COVERED = 0.95
_SEED = 1


def lost_by_round_s(usual: Replay, slower: Replay) -> Floats:
    """What a slower replay loses in each round of the actor that ends last, seconds; nothing in it
    if that actor repeats nothing.
    """
    before_s, after_s = usual.ends_s(slower.last), slower.ends_s(slower.last)
    places = _best(slower.actor, before_s)
    lost_s = (after_s - before_s)[places]
    return np.diff(lost_s[np.isfinite(lost_s)]) if len(lost_s) else np.zeros(0)


def doubt_s(lost_s: Floats) -> tuple[float, float]:
    """How far below and above its sum the sum of other rounds is, with COVERED, seconds."""
    if len(lost_s) < ROUNDS_MIN:
        return 0.0, 0.0
    draws = np.random.default_rng(_SEED).choice(lost_s, (DRAWS, len(lost_s)))
    tail = 0.5 * (1 - COVERED)
    low_s, high_s = np.quantile(draws.sum(axis=1), [tail, 1 - tail])
    whole_s = float(lost_s.sum())
    return max(0.0, whole_s - float(low_s)), max(0.0, float(high_s) - whole_s)


def _best(actor: Actor, ends_s: Floats) -> NDArray[np.int64]:
    """The places of the call that divides most of the time into rounds, the longest ones."""
    best, best_score = np.zeros(0, np.int64), (0.0, 0.0)
    whole_s = float(ends_s[-1])
    for places in _repeated(actor):
        moments_s = ends_s[places]
        lengths_s = np.diff(moments_s[np.isfinite(moments_s)])
        if len(lengths_s) < ROUNDS_MIN or whole_s <= 0:
            continue
        covered, mean_s = float(lengths_s.sum()) / whole_s, float(lengths_s.mean())
        if covered < COVERED_MIN or float(lengths_s.std()) > UNEQUAL_MAX * mean_s:
            continue
        score = (round(covered, 1), mean_s)
        if score > best_score:
            best, best_score = places, score
    return best


def _repeated(actor: Actor) -> Iterator[NDArray[np.int64]]:
    """The places of each call with its partner and size that an actor makes often."""
    if not len(actor.form):
        return
    keys = np.column_stack([actor.form, actor.column("partner"), actor.column("size_bytes")])
    _, key, counts = np.unique(keys, axis=0, return_inverse=True, return_counts=True)
    order = np.argsort(key.ravel(), kind="stable")
    for places in np.split(order, np.cumsum(counts)[:-1]):
        if ROUNDS_MIN < len(places) <= ROUNDS_MAX:
            yield places
