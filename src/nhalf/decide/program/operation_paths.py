"""How many messages and bytes of an operation of several ranks follow each other.

The usual ones are those of the algorithms in R. Thakur, R. Rabenseifner, W. Gropp, Optimization of
collective communication operations in MPICH, IJHPCA 19 (2005), with the sizes at which they change:
trees, dissemination and recursive doubling up to a size, rings and pairs beyond. What a library
does is not known, so that there are the fewest and the most that algorithms of use have as well.

Of the algorithms of use an operation of a trace has the one that takes nearest to what it
took. If that would take half of it, it has twice as many messages, within what algorithms of use
have.
"""

import math
from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

import numpy as np

from nhalf.base.operations import BY_NAME, PER_RANK
from nhalf.decide.program.contention import Contention
from nhalf.decide.program.costs import Costs, pattern_of
from nhalf.facts.program.operations import operation
from nhalf.facts.program.script import Role, Script

BLOCKS = (*PER_RANK, "reduce-scatter")
BRUCK_BYTES, PAIRS_BYTES = 256, 32 << 10
"""An all-to-all goes through other ranks up to the first size, in pairs from the second on."""
RING_BYTES = 512 << 10
"""From this size on, of all ranks together, blocks go around."""
BROADCAST_BYTES, BROADCAST_RANKS = 12 << 10, 8
"""From this size and number of ranks on, a broadcast scatters the data and gathers it again."""
SUM_BYTES = 2 << 10
"""Beyond this size, vectors are summed in parts, which are gathered then."""


@dataclass(frozen=True)
class Path:
    """Messages one after another, and the bytes that they have together."""

    messages: float
    bytes: float


Paths = Callable[[str, int, int], Path]
"""By call, ranks, and what a rank puts in."""


def usual_path(call: str, ranks: int, size_bytes: int) -> Path:
    """What the algorithm of that size has."""
    if ranks < 2:
        return Path(0, 0)
    name = operation(call)
    pattern, part_bytes = pattern_of(name, ranks, size_bytes)
    if pattern in BLOCKS:
        return _of_blocks(name, pattern, ranks, part_bytes)
    rounds = math.ceil(math.log2(ranks))
    in_parts = pattern in ("reduce", "allreduce") and part_bytes > SUM_BYTES
    if pattern == "bcast":
        in_parts = part_bytes >= BROADCAST_BYTES and ranks >= BROADCAST_RANKS
    if in_parts:
        return Path(2 * rounds, 2 * (ranks - 1) / ranks * part_bytes)
    return Path(rounds, rounds * part_bytes)


def _of_blocks(name: str, pattern: str, ranks: int, part_bytes: int) -> Path:
    """Operations in which a rank has a block for or from each other one."""
    rounds, partners = math.ceil(math.log2(ranks)), ranks - 1
    messages, blocks = rounds, float(partners)
    if BY_NAME[name].is_rooted and BY_NAME[name].is_varying:
        messages = 1  # The root has one for or from each other rank, all at once.
    elif pattern == "alltoall" and part_bytes <= BRUCK_BYTES:
        blocks = rounds * ranks / 2
    elif pattern == "alltoall":
        messages = 1 if part_bytes < PAIRS_BYTES else partners
    elif pattern == "allgather" and ranks * part_bytes >= RING_BYTES:
        messages = partners
    elif pattern == "reduce-scatter":
        blocks = partners / ranks
        messages = partners if part_bytes >= RING_BYTES else rounds
    return Path(messages, blocks * part_bytes)


def known_paths(call: str, ranks: int, size_bytes: int) -> list[Path]:
    """The paths of all algorithms of use, the usual one first."""
    usual = usual_path(call, ranks, size_bytes)
    if ranks < 2:
        return [usual]
    pattern, part_bytes = pattern_of(operation(call), ranks, size_bytes)
    rounds, partners = math.ceil(math.log2(ranks)), ranks - 1
    blocks_bytes, parts_bytes = partners * part_bytes, 2 * partners / ranks * part_bytes
    tree, in_parts = Path(rounds, rounds * part_bytes), Path(2 * rounds, parts_bytes)
    at_once, in_turn = Path(1, blocks_bytes), Path(partners, blocks_bytes)
    paths_by_pattern = {
        "bcast": (tree, in_parts, Path(rounds + partners, parts_bytes), at_once),
        "reduce": (tree, in_parts, at_once),
        "allreduce": (
            tree,
            in_parts,
            Path(2 * rounds, 2 * tree.bytes),
            Path(2 * partners, parts_bytes),
        ),
        "gather": (Path(rounds, blocks_bytes), at_once),
        "scatter": (Path(rounds, blocks_bytes), at_once),
        "allgather": (Path(rounds, blocks_bytes), in_turn),
        "alltoall": (Path(rounds, tree.bytes * ranks / 2), at_once, in_turn),
        "reduce-scatter": (
            Path(rounds, blocks_bytes / ranks),
            Path(partners, blocks_bytes / ranks),
        ),
    }
    return [usual, *(path for path in paths_by_pattern.get(pattern, ()) if path != usual)]


def fewest_path(call: str, ranks: int, size_bytes: int) -> Path:
    """The fewest of algorithms of use: one message where a rank may send to each other one, log2 p
    where all need what all have; each byte once.
    """
    if ranks < 2:
        return Path(0, 0)
    pattern, part_bytes = pattern_of(operation(call), ranks, size_bytes)
    usual = usual_path(call, ranks, size_bytes)
    rounds = math.ceil(math.log2(ranks))
    messages = 1 if pattern in (*PER_RANK, "bcast", "reduce") else rounds
    return Path(messages, min(usual.bytes, part_bytes))


def most_path(call: str, ranks: int, size_bytes: int) -> Path:
    """The most of algorithms of use: a tree up and down again, or a message for each rank."""
    if ranks < 2:
        return Path(0, 0)
    _, part_bytes = pattern_of(operation(call), ranks, size_bytes)
    rounds = math.ceil(math.log2(ranks))
    usual = usual_path(call, ranks, size_bytes)
    return Path(max(ranks - 1, 2 * rounds), max(usual.bytes, 2 * rounds * part_bytes))


_Kind = tuple[str, int, int]
"""A call, its ranks, and what one puts in."""


def observed_paths(script: Script, costs: Costs, contention: Contention) -> Paths:
    """For each kind of operation the nearest path, times the ratio of what it took."""
    nearest = {
        kind: _nearest(ratios) for kind, ratios in _ratios(script, costs, contention).items()
    }

    def path(call: str, ranks: int, size_bytes: int) -> Path:
        place, ratio = nearest.get((call, ranks, size_bytes), (0, 1.0))
        nearest_path = known_paths(call, ranks, size_bytes)[place]
        fewest, most = (of(call, ranks, size_bytes) for of in (fewest_path, most_path))
        messages = min(max(ratio * nearest_path.messages, fewest.messages), most.messages)
        return Path(messages, min(max(ratio * nearest_path.bytes, fewest.bytes), most.bytes))

    return path


def _nearest(ratios: Sequence[Sequence[float]]) -> tuple[int, float]:
    """The place of the path whose median ratio is nearest to one, and that ratio."""
    medians = [median(of_path) for of_path in zip(*ratios, strict=True)]
    place = min(
        range(len(medians)),
        key=lambda index: abs(math.log(medians[index])) if medians[index] > 0 else math.inf,
    )
    return place, medians[place]


def _ratios(script: Script, costs: Costs, contention: Contention) -> dict[_Kind, list[list[float]]]:
    """What each operation of a kind took, over what each of the known paths takes."""
    ratios: dict[_Kind, list[list[float]]] = defaultdict(list)
    times_s: dict[tuple[_Kind, int, int], list[float]] = {}
    parts = script.parts
    is_known = np.isfinite(contention.operations_s) & (parts.role != Role.NOBODY)
    for part in np.flatnonzero(is_known).tolist():
        call, members, size_bytes = parts.works[parts.work[part]]
        more_s = float(contention.operations_s[part])
        took_s = max(0.0, costs.collective_s(call, members, size_bytes) + more_s)
        kind, ends = (call, len(members), size_bytes), (members[0], members[-1])
        known_s = times_s.get((kind, *ends))
        if known_s is None:
            known_s = [_path_s(path, *ends, costs) for path in known_paths(*kind)]
            times_s[kind, *ends] = known_s
        if min(known_s) > 0:
            ratios[kind].append([took_s / path_s for path_s in known_s])
    return ratios


def _path_s(path: Path, source: int, target: int, costs: Costs) -> float:
    """What the messages of a path take one after the other."""
    if path.messages <= 0:
        return 0.0
    each_bytes = round(path.bytes / path.messages)
    return path.messages * costs.message_s(source, target, each_bytes)
