# SPDX-License-Identifier: Apache-2.0
"""What is left out where time is short, and what is taken in again where some is to spare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nhalf.measure.plan.agenda import Agenda, Family, Thinning, every
from nhalf.measure.plan.budget import LAUNCHES_MIN, Budget, Group

SIZES_LEAST = 3
"""Sizes are thinned down to this many: both ends and one between."""

WHOLE_LEAST = 8
"""Combinations of values of axes that a whole block has at least."""


def thin(agenda: Agenda, budget: Budget) -> None:
    """Leave points out until the first two launches fit into the time that is left.

    First launches beyond two go, then sizes, then values of axes, then the second launch, each time
    from the block that takes most for its weight. Where that is a whole block it keeps its points,
    but only one launch; then it loses values of axes down to WHOLE_LEAST, and sizes, from which its
    result can still be estimated, and goes altogether the next time.
    """
    budget.count(agenda.left())
    while budget.short_s() > 0 and _thin_once(agenda, budget):
        _count(agenda, budget)


def widen(agenda: Agenda, budget: Budget) -> bool:
    """Take in again what was left out, where two launches of it fit; whether anything was.

    Sizes and values of axes come first, then launches.
    """
    for loosened in (_with_more_points, _with_more_launches):
        for number, tight in enumerate(agenda.thinned):
            agenda.thinned[number] = loosened(agenda, number)
            if agenda.thinned[number] == tight:
                continue
            _count(agenda, budget)
            if budget.short_s() == 0 and agenda.left():
                return True
            agenda.thinned[number] = tight
            _count(agenda, budget)
    return False


def _with_more_points(agenda: Agenda, number: int) -> Thinning:
    """A block with its sizes back, else its values of axes, or with a launch where it had none."""
    one = agenda.thinned[number]
    if one.launches == 0:
        return replace(one, launches=1)
    if one.sizes > 1:
        return replace(one, sizes=one.sizes // 2)
    return replace(one, axes=max(1, one.axes // 2))


def _with_more_launches(agenda: Agenda, number: int) -> Thinning:
    one = agenda.thinned[number]
    planned = agenda.plan.launches_of(agenda.plan.blocks[number])
    return replace(one, launches=planned) if one.launches else one


def _count(agenda: Agenda, budget: Budget) -> None:
    agenda.changed()
    budget.count(agenda.left(), anew=True)


def _thin_once(agenda: Agenda, budget: Budget) -> bool:
    """Take the next thing away; whether there was any."""
    many = [one for one in agenda.thinned if one.launches > LAUNCHES_MIN]
    if many:
        for one in many:
            one.launches = LAUNCHES_MIN
        return True
    needs = _needs_s(agenda, budget)
    whole = {block for block in needs if agenda.plan.blocks[block].whole}
    sizes = {block for block in needs if block not in whole and _more_sizes(agenda, block)}
    axes = {block for block in needs if block not in whole and _more_axes(agenda, block)}
    second = {block for block in needs if agenda.thinned[block].launches == LAUNCHES_MIN}
    candidates = whole | (sizes or axes) or second
    if not candidates:
        return False
    largest = max(candidates, key=lambda block: needs[block])
    one = agenda.thinned[largest]
    if largest in whole:
        _thin_whole(agenda, largest)
    elif largest in sizes:
        one.sizes *= 2
    elif largest in axes:
        one.axes *= 2
    else:
        one.launches = 1
    return True


def _thin_whole(agenda: Agenda, block: int) -> None:
    """One launch, then fewer values of axes while there are WHOLE_LEAST, then fewer sizes."""
    one = agenda.thinned[block]
    families = list(_of_block(agenda, block))
    if one.launches > 1:
        one.launches = 1
    elif all(len(every(family.axes, 2 * one.axes)) >= WHOLE_LEAST for family in families):
        one.axes *= 2
    elif _more_sizes(agenda, block):
        one.sizes *= 2
    else:
        one.launches = 0


def _needs_s(agenda: Agenda, budget: Budget) -> dict[int, float]:
    """The least time of each block in the first two launches, relative to its weight."""
    needs: dict[int, float] = {}
    for (start, launch, number), points in agenda.left().items():
        if launch < LAUNCHES_MIN:
            need_s = points * budget.least_s(Group(number, start.ranks))
            needs[number] = needs.get(number, 0.0) + need_s / agenda.plan.blocks[number].weight
    return needs


def _more_sizes(agenda: Agenda, block: int) -> bool:
    stride = agenda.thinned[block].sizes
    return any(len(every(f.sizes, stride)) > SIZES_LEAST for f in _of_block(agenda, block))


def _more_axes(agenda: Agenda, block: int) -> bool:
    stride = agenda.thinned[block].axes
    return any(len(every(f.axes, stride)) > 2 for f in _of_block(agenda, block))


def _of_block(agenda: Agenda, block: int) -> Iterator[Family]:
    return (family for family in agenda.every_family() if family.block == block)
