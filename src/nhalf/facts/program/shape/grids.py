"""Rings and stencils: ranks in a grid, each sending to those at fixed distances.

Every factorisation of the ranks into up to four dimensions is tried, with and without wrap-around.
Pairs at one distance form a rule if all ranks that have such a neighbour send to it, equally
often; a distance counts if it is one step (diagonals included), a power of two along one axis
(as multigrid uses on its levels), or any shift of a ring.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from nhalf.facts.program.shape.edges import Edges, Integers
from nhalf.facts.program.shape.explained import Explained
from nhalf.facts.program.shape.grid_words import grid_name, grid_words

DIMENSIONS_MAX = 4
RULES_MAX = 32
Step = tuple[int, ...]


def grids(edges: Edges) -> Iterator[Explained]:
    """Every grid that explains any pairs."""
    if len(edges.source) > RULES_MAX * edges.ranks or edges.ranks < 2:
        return
    for dimensions in divisions(edges.ranks):
        for periodic in _wraps(dimensions):
            grid = _grid(edges, dimensions, periodic)
            if grid is not None:
                yield grid


def divisions(ranks: int) -> Iterator[tuple[int, ...]]:
    """Factors of a number in every order, none of them 1, at most DIMENSIONS_MAX of them."""

    def further(remaining: int, most: int) -> Iterator[tuple[int, ...]]:
        yield (remaining,)
        if most > 1:
            for factor in range(2, remaining // 2 + 1):
                if remaining % factor == 0:
                    for further_factors in further(remaining // factor, most - 1):
                        yield (factor, *further_factors)

    yield from further(ranks, DIMENSIONS_MAX)


def _wraps(dimensions: Sequence[int]) -> Iterator[tuple[bool, ...]]:
    """Which dimensions wrap around; those of two ranks are the same either way."""
    if len(dimensions) == DIMENSIONS_MAX:
        yield tuple(extent > 2 for extent in dimensions)
        yield (False,) * DIMENSIONS_MAX
        return
    yield from itertools.product(*[(True, False) if d > 2 else (False,) for d in dimensions])


def _grid(edges: Edges, dimensions: Step, periodic: tuple[bool, ...]) -> Explained | None:
    """What the steps of one grid explain."""
    steps = _steps(edges, dimensions, periodic)
    unique, place, number = np.unique(steps, axis=0, return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    mask = np.zeros(len(edges.source), dtype=bool)
    rules: list[Step] = []
    for at, row in enumerate(unique):
        step = tuple(int(value) for value in row)
        expected = _having(step, dimensions, periodic)
        if number[at] != expected or expected < 2 or not _counts(step, periodic):
            continue
        along_step = place == at
        if edges.are_alike(along_step):
            mask |= along_step
            rules.append(step)
    if not rules or len(rules) > RULES_MAX:
        return None
    accepted_steps = tuple(rules)
    return Explained(
        grid_name(dimensions, accepted_steps, periodic),
        grid_words(dimensions, accepted_steps, periodic),
        mask,
        len(_both_ways(accepted_steps)),
        dimensions,
        accepted_steps,
        periodic,
    )


def _both_ways(steps: Sequence[Step]) -> set[Step]:
    """The steps without their opposites: a rule in both directions is one rule."""
    return {max(step, tuple(-value for value in step)) for step in steps}


def _steps(edges: Edges, dimensions: Step, periodic: tuple[bool, ...]) -> Integers:
    """From each pair's source to its target, (pairs, dimensions); the short way if it wraps."""
    source = np.stack(np.unravel_index(edges.source, dimensions), axis=1)
    target = np.stack(np.unravel_index(edges.target, dimensions), axis=1)
    steps: Integers = target - source
    for axis, wraps in enumerate(periodic):
        if wraps:
            extent = dimensions[axis]
            low = (extent - 1) // 2
            steps[:, axis] = (steps[:, axis] + low) % extent - low
    return steps


def _having(step: Step, dimensions: Step, periodic: tuple[bool, ...]) -> int:
    """The number of ranks with a neighbour at that step."""
    number = 1
    for value, extent, wraps in zip(step, dimensions, periodic, strict=True):
        number *= extent if wraps else extent - abs(value)
    return number


def _counts(step: Step, periodic: tuple[bool, ...]) -> bool:
    """Whether a step is typical of grids."""
    if periodic == (True,) or all(abs(value) <= 1 for value in step):
        return True
    far = [abs(value) for value in step if value]
    return len(far) == 1 and far[0].bit_count() == 1
