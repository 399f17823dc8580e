"""Which points are left out where time is short, and taken back in where time is to spare."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from nhalf.measure.plan.agenda import Agenda, Family, Thinning, strided
from nhalf.measure.plan.budget import LAUNCHES_MIN, Budget, Group

SIZES_LEAST = 3
"""Fewest sizes after thinning: both ends and one between."""

SIZES_LEAST_OF_MANY = 7
"""A curve with more launches than LAUNCHES_FEW loses no more sizes once it has these few."""

LAUNCHES_FEW = 3
"""Launches that a comparison needs at least (statistics/same_state.py)."""

INSERTED_STRIDE_MAX = 4
"""Beyond this stride no inserted sizes are measured."""

WHOLE_LEAST = 8
"""Fewest combinations of axes of a whole block that is not left out."""


def thin(agenda: Agenda, budget: Budget) -> None:
    """Leave points out until the launches that the budget keeps fit into the time that is left.

    Launches beyond LAUNCHES_MIN go first, then sizes, those inserted before those of the plan, down
    to SIZES_LEAST_OF_MANY, then values of axes, then launches beyond LAUNCHES_FEW, then further
    sizes, then further launches, each time from the block that takes most for its weight. A
    whole block keeps its points, but only one launch; then it loses values of axes down to
    WHOLE_LEAST, and sizes, from which its result can still be estimated, and is finally left out.
    Where the budget keeps every launch, only sizes and values of axes go, and whole blocks stay.
    """
    budget.count(agenda.remaining_points())
    while budget.short_s() > 0 and _thin_once(agenda, budget):
        _count(agenda, budget)


def widen(agenda: Agenda, budget: Budget) -> bool:
    """Take points back in if the kept launches of them fit; return whether there were any.

    Sizes and values of axes come first, then launches.
    """
    for loosened in (_with_more_points, _with_more_launches):
        for number, tight in enumerate(agenda.thinned):
            agenda.thinned[number] = loosened(agenda, number)
            if agenda.thinned[number] == tight:
                continue
            _count(agenda, budget)
            if budget.short_s() == 0 and agenda.remaining_points():
                return True
            agenda.thinned[number] = tight
            _count(agenda, budget)
    return False


def _with_more_points(agenda: Agenda, number: int) -> Thinning:
    """Return a block's thinning with more sizes, else more axes, or a launch if it had none."""
    thinning = agenda.thinned[number]
    if thinning.launches == 0:
        return replace(thinning, launches=1)
    if thinning.sizes > 1:
        return replace(thinning, sizes=thinning.sizes // 2)
    if thinning.inserted != 1:
        return replace(thinning, inserted=thinning.inserted // 2 or INSERTED_STRIDE_MAX)
    return replace(thinning, axes=max(1, thinning.axes // 2))


def _with_more_launches(agenda: Agenda, number: int) -> Thinning:
    thinning = agenda.thinned[number]
    planned = agenda.plan.launches_of(agenda.plan.blocks[number])
    return replace(thinning, launches=planned) if thinning.launches else thinning


def _count(agenda: Agenda, budget: Budget) -> None:
    agenda.changed()
    budget.count(agenda.remaining_points(), anew=True)


def _thin_once(agenda: Agenda, budget: Budget) -> bool:
    """Thin one block by one step; return whether that was possible."""
    keeps_all = budget.launches_kept > LAUNCHES_MIN
    many = [thinning for thinning in agenda.thinned if thinning.launches > LAUNCHES_MIN]
    if many and not keeps_all:
        for thinning in many:
            thinning.launches = LAUNCHES_MIN
        return True
    needs = _needs_s(agenda, budget)
    whole = {block for block in needs if agenda.plan.blocks[block].whole}
    sizes = {
        block
        for block in needs
        if block not in whole and _more_sizes(agenda, block, _sizes_least(agenda, block, keeps_all))
    }
    axes = {block for block in needs if block not in whole and _more_axes(agenda, block)}
    repeated = {block for block in needs if agenda.thinned[block].launches > 1}
    candidates = sizes or axes if keeps_all else whole | (sizes or axes) or repeated
    if not candidates:
        return False
    largest = max(candidates, key=lambda block: needs[block])
    thinning = agenda.thinned[largest]
    if largest in whole:
        _thin_whole(agenda, largest)
    elif largest in sizes:
        _thin_sizes(agenda, largest)
    elif largest in axes:
        thinning.axes *= 2
    else:
        thinning.launches = (thinning.launches + 1) // 2
    return True


def _sizes_least(agenda: Agenda, block: int, keeps_all: bool) -> int:
    """Fewest sizes of a block: a curve can be seen where launches do not go first."""
    has_many = keeps_all or agenda.thinned[block].launches > LAUNCHES_FEW
    return SIZES_LEAST_OF_MANY if has_many else SIZES_LEAST


def _thin_sizes(agenda: Agenda, block: int) -> None:
    """Leave out inserted sizes, step by step, then sizes of the plan."""
    thinning = agenda.thinned[block]
    if not _has_inserted(agenda, block):
        thinning.sizes *= 2
    elif thinning.inserted == INSERTED_STRIDE_MAX:
        thinning.inserted = 0
    else:
        thinning.inserted *= 2


def _thin_whole(agenda: Agenda, block: int) -> None:
    """Thin a whole block: one launch, then fewer values of axes, then fewer sizes, then nothing."""
    thinning = agenda.thinned[block]
    families = list(_of_block(agenda, block))
    if thinning.launches > 1:
        thinning.launches = 1
    elif all(len(strided(family.axes, 2 * thinning.axes)) >= WHOLE_LEAST for family in families):
        thinning.axes *= 2
    elif _more_sizes(agenda, block):
        thinning.sizes *= 2
    else:
        thinning.launches = 0


def _needs_s(agenda: Agenda, budget: Budget) -> dict[int, float]:
    """Return the least time of each block in the kept launches, relative to its weight."""
    needs: dict[int, float] = {}
    for (start, launch, number), points in agenda.remaining_points().items():
        if launch < budget.launches_kept:
            need_s = points * budget.least_s(Group(number, start.ranks))
            needs[number] = needs.get(number, 0.0) + need_s / agenda.plan.blocks[number].weight
    return needs


def _more_sizes(agenda: Agenda, block: int, least: int = SIZES_LEAST) -> bool:
    """Whether a block has more than the least number of sizes."""
    stride = agenda.thinned[block].sizes
    return _has_inserted(agenda, block) or any(
        len(strided(family.sizes, stride)) > least for family in _of_block(agenda, block)
    )


def _has_inserted(agenda: Agenda, block: int) -> bool:
    """Whether a block still has sizes between those of its plan."""
    thinning = agenda.thinned[block]
    return (
        thinning.sizes == 1
        and thinning.inserted > 0
        and any(agenda.inserted(family) for family in _of_block(agenda, block))
    )


def _more_axes(agenda: Agenda, block: int) -> bool:
    stride = agenda.thinned[block].axes
    return any(len(strided(f.axes, stride)) > 2 for f in _of_block(agenda, block))


def _of_block(agenda: Agenda, block: int) -> Iterator[Family]:
    return (family for family in agenda.every_family() if family.block == block)
