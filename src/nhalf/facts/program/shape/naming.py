"""The shape of a program's traffic: grids and sweeps, and which shape explains most of it.

Every factorisation of the ranks into up to four dimensions is tried, with and without wrap-around.
Pairs at one distance form a rule if all ranks that have such a neighbour send to it, equally
often; a distance counts if it is one step (diagonals included), a power of two along one axis
(as multigrid uses on its levels), or any shift of a ring.

In an exchange, a rank receives from a neighbour before it sends to it again. In a sweep, it sends
downstream many times, once for each plane, before it receives from there, and receives from
upstream in between. Counts are the same, so this needs a timeline.
"""

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.base.numbers import format_number, percent
from nhalf.facts.fact import fact
from nhalf.facts.program.messages import communication_matrix
from nhalf.facts.program.program import Program
from nhalf.facts.program.shape import explained

RING, CHAIN, SHIFT, DISSEMINATION = "ring", "chain", "shift", "dissemination"
WAVEFRONT = "wavefront"
Step = tuple[int, ...]


def grid_name(dimensions: Step, steps: Sequence[Step], periodic: Sequence[bool]) -> str:
    """The established term for ranks in a grid that send along some steps."""
    if len(dimensions) == 1:
        return _ring_name(dimensions[0], [step[0] for step in steps], periodic[0])
    return WAVEFRONT if is_one_way(steps) and not any(periodic) else f"{len(dimensions)}-D stencil"


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
    return RING if distances == set(range(1, len(distances) + 1)) else "circulant"


def grid_words(dimensions: Step, steps: Sequence[Step], periodic: Sequence[bool]) -> str:
    """The name with the grid, its wrap-around and its neighbours."""
    name = grid_name(dimensions, steps, periodic)
    if len(dimensions) == 1:
        return _ring_words(name, dimensions[0], sorted(step[0] for step in steps))
    extents = " x ".join(map(str, dimensions))
    wide = [wraps for wraps, extent in zip(periodic, dimensions, strict=True) if extent > 2]
    around = "" if not any(wide) else ", periodic" if all(wide) else ", periodic in part"
    diagonal = [step for step in steps if sum(value != 0 for value in step) > 1]
    beside = f", with {len(diagonal)} diagonal neighbours" if diagonal else ""
    is_far = any(max(map(abs, step)) > 1 for step in steps)
    levels = ", on several levels (multigrid)" if is_far else ""
    return f"{name} on {extents} ranks{around}{beside}{levels}"


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


DIMENSIONS_MAX = 4
RULES_MAX = 32


def grids(edges: explained.Edges) -> Iterator[explained.Explained]:
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


def _grid(
    edges: explained.Edges, dimensions: Step, periodic: tuple[bool, ...]
) -> explained.Explained | None:
    """What the steps of one grid explain."""
    steps = _steps(edges, dimensions, periodic)
    unique, place, number = np.unique(steps, axis=0, return_inverse=True, return_counts=True)
    place = place.reshape(-1)
    mask = np.zeros(len(edges.source), dtype=bool)
    rules: list[Step] = []
    for at, row in enumerate(unique):
        step = tuple(int(value) for value in row)
        axes = zip(step, dimensions, periodic, strict=True)
        # Ranks that have a neighbour at that step.
        expected = math.prod(n if wraps else n - abs(value) for value, n, wraps in axes)
        if number[at] != expected or expected < 2 or not _counts(step, periodic):
            continue
        along_step = place == at
        if edges.are_alike(along_step):
            mask |= along_step
            rules.append(step)
    if not rules or len(rules) > RULES_MAX:
        return None
    accepted_steps = tuple(rules)
    return explained.Explained(
        grid_name(dimensions, accepted_steps, periodic),
        grid_words(dimensions, accepted_steps, periodic),
        mask,
        # A rule in both directions is one rule.
        len({max(step, tuple(-value for value in step)) for step in accepted_steps}),
        dimensions,
        accepted_steps,
        periodic,
    )


def _steps(
    edges: explained.Edges, dimensions: Step, periodic: tuple[bool, ...]
) -> explained.Integers:
    """From each pair's source to its target, (pairs, dimensions); the short way if it wraps."""
    source = np.stack(np.unravel_index(edges.source, dimensions), axis=1)
    target = np.stack(np.unravel_index(edges.target, dimensions), axis=1)
    steps: explained.Integers = target - source
    for axis, wraps in enumerate(periodic):
        if wraps:
            extent = dimensions[axis]
            low = (extent - 1) // 2
            steps[:, axis] = (steps[:, axis] + low) % extent - low
    return steps


def _counts(step: Step, periodic: tuple[bool, ...]) -> bool:
    """Whether a step is typical of grids."""
    if periodic == (True,) or all(abs(value) <= 1 for value in step):
        return True
    far = [abs(value) for value in step if value]
    return len(far) == 1 and far[0].bit_count() == 1


AGAIN_SHARE = 0.8
"""The share of sends that must follow another to the same rank without an answer."""
FED_SHARE = 0.4
"""The share of sends that must follow a message from another rank: the first ranks get none."""


@fact
def is_swept(program: Program) -> bool:
    """Whether the point-to-point messages of the timeline are those of sweeps."""
    kinds = ["sent", "received"]
    events = program.timeline.filter(pl.col("kind").is_in(kinds) & (pl.col("partner") >= 0))
    if events.is_empty():
        return False
    is_sent = pl.col("kind") == "sent"
    at = pl.when(is_sent).then("start_s").otherwise("end_s")
    ordered = events.select("rank", "partner", sent=is_sent, at=at).sort("rank", "at", "sent")
    received_before = (~pl.col("sent")).cast(pl.Int64).cum_sum().over("rank")
    ordered = ordered.with_columns(heard=received_before).sort("rank", "partner", "at", "sent")
    pair = ["rank", "partner"]
    again = pl.col("sent") & pl.col("sent").shift(1).over(pair).fill_null(value=False)
    fed = again & (pl.col("heard") > pl.col("heard").shift(1).over(pair))
    sends, repeated, between = ordered.select(
        pl.col("sent").sum(), again.sum().alias("again"), fed.sum().alias("fed")
    ).row(0)
    return bool(sends and repeated >= AGAIN_SHARE * sends and between >= FED_SHARE * sends)


SHARE_MIN = 0.9
"""The share of all messages that a shape must explain."""
NONE, IRREGULAR, PAIR = "none", "", "pair"


@dataclass(frozen=True)
class TrafficShape:
    """The pattern of point-to-point messages.

    `name` is NONE without messages, IRREGULAR if no known shape explains them; `share` is the
    share of messages that the shape explains, `partners` the median number of destinations.
    """

    name: str
    words: str
    share: float
    partners: float
    grid: explained.Explained | None = None

    @property
    def evidence(self) -> str:
        """The evidence for the name, in a sentence."""
        if self.name == NONE:
            return "There are no point-to-point messages between different ranks."
        if not self.name:
            return "No known shape explains 90 % of the messages."
        if self.name == PAIR:
            subject = "All" if self.share == 1 else f"{percent(self.share)} of the"
            return f"{subject} messages are between {self.words}."
        if self.share == 1:
            return "All messages follow it."
        return f"{format_number(self.share * 100)} % of the messages follow it."


def shape_of(messages: Floats, sizes: Floats | None = None) -> TrafficShape:
    """The shape of a matrix of messages (from row to column), with their bytes if known."""
    edges = explained.Edges.of(messages, sizes)
    if not edges.total:
        return TrafficShape(NONE, "no point-to-point messages", 1.0, 0.0)
    partners = float(np.median(np.unique(edges.source, return_counts=True)[1]))
    talking = np.unique(np.concatenate([edges.source, edges.target]))
    if len(talking) == 2:
        words = f"ranks {talking[0]} and {talking[1]}"
        return TrafficShape(PAIR, words, edges.total / messages.sum(), partners)
    best = max(_candidates(edges), key=lambda candidate: _merit(edges, candidate), default=None)
    all_messages = float(messages.sum() - np.trace(messages))
    share = 0.0 if best is None else edges.share(best.mask) * edges.total / all_messages
    if best is None or share < SHARE_MIN:
        return TrafficShape(IRREGULAR, "irregular", share, partners)
    return TrafficShape(best.name, best.words, share, partners, best if best.dimensions else None)


@fact
def communication_shape(program: Program) -> TrafficShape:
    """The shape of a program's messages; a stencil that is swept is a wavefront."""
    matrix = communication_matrix(program)
    shape = shape_of(matrix.messages, matrix.bytes)
    # A circulating token is not a wavefront.
    has_ends = shape.grid is not None and not any(shape.grid.periodic)
    return swept(shape) if has_ends and is_swept(program) else shape


def swept(shape: TrafficShape) -> TrafficShape:
    """A stencil whose messages form sweeps."""
    words = shape.words.replace(shape.name, f"{WAVEFRONT} (swept {shape.name})", 1)
    return replace(shape, name=WAVEFRONT, words=words)


def _candidates(edges: explained.Edges) -> Iterator[explained.Explained]:
    """Single shapes, and shapes whose remainder is a named permutation."""
    yield from explained.permutations(edges)
    for shape in (*explained.hubs(edges), *explained.cubes(edges), *grids(edges)):
        yield shape
        if SHARE_MIN / 4 < edges.share(shape.mask) < 1:
            yield from _with_rest(edges, shape)


def _with_rest(edges: explained.Edges, main: explained.Explained) -> Iterator[explained.Explained]:
    for remainder in explained.permutations(edges.without(main.mask)):
        mask: explained.PairMask = np.ones(len(edges.source), dtype=bool)
        yield replace(
            main,
            name=f"{main.name} and {remainder.name}",
            words=f"{main.words}, and {remainder.words}",
            mask=mask,
            rules=main.rules + 2,
        )


def _merit(edges: explained.Edges, candidate: explained.Explained) -> tuple[float, ...]:
    """Prefers shapes that explain more, then fewer rules, fewer dimensions, no wrap-around.

    A hub explains any small star, a butterfly is also a grid of 2 x 2 x 2: with equal numbers of
    rules, the more specific term wins.
    """
    special = {explained.BUTTERFLY: 2, explained.MASTER_WORKER: 1}.get(candidate.name, 0)
    if candidate.name == explained.BUTTERFLY and edges.ranks == 4:
        special = 0
    return (
        round(edges.share(candidate.mask), 2),
        -candidate.rules,
        special,
        -len(candidate.dimensions),
        -sum(candidate.periodic),
    )
