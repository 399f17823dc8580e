"""Names of rings, stencils and related patterns."""

from __future__ import annotations

from collections.abc import Sequence

RING, CHAIN, SHIFT, DISSEMINATION = "ring", "chain", "shift", "dissemination"
WAVEFRONT = "wavefront"
Step = tuple[int, ...]


def grid_name(dimensions: Step, steps: Sequence[Step], periodic: Sequence[bool]) -> str:
    """The established term for ranks in a grid that send along some steps."""
    if len(dimensions) == 1:
        return _ring_name(dimensions[0], [step[0] for step in steps], periodic[0])
    if is_one_way(steps) and not any(periodic):
        return WAVEFRONT
    return f"{len(dimensions)}-D stencil"


def is_one_way(steps: Sequence[Step]) -> bool:
    """Whether messages leave along several axes, and in only one direction on each."""
    sums = [sum(step) for step in steps]
    single = all(sum(map(abs, step)) == 1 for step in steps)
    one_side = all(value > 0 for value in sums) or all(value < 0 for value in sums)
    return single and one_side and len(steps) > 1


def _ring_name(ranks: int, steps: Sequence[int], wraps: bool) -> str:
    if not wraps:
        return CHAIN
    distances = {abs(step) for step in steps}
    if distances == {1}:
        return RING
    forward = {step % ranks for step in steps}
    powers = {1 << bit for bit in range((ranks - 1).bit_length())}
    if len(powers) > 2 and forward in (powers, {ranks - power for power in powers}):
        return DISSEMINATION
    if len(distances) == 1:
        return SHIFT
    if distances == set(range(1, len(distances) + 1)):
        return RING
    return "circulant"


def grid_words(dimensions: Step, steps: Sequence[Step], periodic: Sequence[bool]) -> str:
    """The name with the grid, its wrap-around and its neighbours."""
    name = grid_name(dimensions, steps, periodic)
    if len(dimensions) == 1:
        return _ring_words(name, dimensions[0], sorted(step[0] for step in steps))
    extents = " x ".join(map(str, dimensions))
    wide = [wraps for wraps, extent in zip(periodic, dimensions, strict=True) if extent > 2]
    around = "" if not any(wide) else ", periodic" if all(wide) else ", periodic in part"
    return f"{name} on {extents} ranks{around}{_neighbours(steps)}"


def _neighbours(steps: Sequence[Step]) -> str:
    """Neighbours other than the nearest ones along each axis."""
    diagonal = [step for step in steps if sum(value != 0 for value in step) > 1]
    far = [step for step in steps if max(map(abs, step)) > 1]
    words = f", with {len(diagonal)} diagonal neighbours" if diagonal else ""
    return words + (", on several levels (multigrid)" if far else "")


def _ring_words(name: str, ranks: int, steps: Sequence[int]) -> str:
    distances = sorted({abs(step) for step in steps})
    is_symmetric = {step % ranks for step in steps} == {-step % ranks for step in steps}
    way = "both ways" if is_symmetric else "one way"
    if name == SHIFT:
        return f"shift by {distances[0]} of {ranks} ranks, {way}"
    if name == RING and len(distances) > 1:
        return f"ring of {ranks} ranks, {len(distances)} neighbours on each side"
    if name == "circulant":
        return f"shifts by {', '.join(map(str, distances))} of {ranks} ranks, {way}"
    if name == DISSEMINATION:
        return f"dissemination among {ranks} ranks (distances 1, 2, 4 ...)"
    return f"{name} of {ranks} ranks, {way}"
