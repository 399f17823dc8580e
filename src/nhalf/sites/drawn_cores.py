"""Cores of the same kind as those that the launcher chose, drawn anew for a launch.

Launchers give each launch the same cores. What is special about these then looks like a property of
the library, and a run cannot tell whether its launches differ because of them. So launches change
them for others with the same distances: for all pairs of ranks the same caches, die, socket and
memory domain in common, and for each rank a core of the same speed and caches.

Each draw serves two launches, three launches apart, so that cores and slow changes of the machine
can be told from each other (facts/precision.py): 0, 1, 2, 0, 1, 2, 3, 4, 5, 3, 4, 5, ...
Draw 0 is what the launcher chose.
"""

import random
from collections.abc import Collection, Sequence
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nhalf.base.files import text_in
from nhalf.sites.placement import SYSFS, last_level_caches, parse_cpu_list

TRIES = 20
"""A draw, rank by rank, may end where no core fits; most do not."""
APART = 3
"""Launches from one with a draw to the other with the same draw."""
SHARED = ("topology/*_cpus_list", "topology/*_siblings_list", "cache/index*/shared_cpu_list")
OWN = ("cpu_capacity", "cpufreq/*_max_freq", "cpufreq/base_frequency", "cache/index*/size")


class Cores(NamedTuple):
    """One hardware thread of each core, all threads of each, and for each pair of cores a number
    for what they have in common; for a core and itself, of what it is.
    """

    cpus: tuple[int, ...]
    threads: tuple[frozenset[int], ...]
    relations: NDArray[np.int64]


def draw_of(launch: int) -> int:
    """The number of a launch's draw."""
    return launch // (2 * APART) * APART + launch % APART


def drawn_cores(
    chosen: Sequence[Collection[int]], allowed: Collection[int], seed: str, sysfs: Path = SYSFS
) -> list[int]:
    """The core of each rank, as good as those that the launcher chose for ranks on one host.

    `chosen` are the hardware threads that it bound each rank to, `allowed` those that may be used.
    Empty if ranks were not bound to a core each, or no other cores are like these.
    """
    cores = cores_of(frozenset(allowed), sysfs)
    places = [
        next((i for i, threads in enumerate(cores.threads) if threads.issuperset(rank)), -1)
        for rank in chosen
    ]
    if -1 in places or len(set(places)) < len(places) or not all(chosen):
        return []
    generator = random.Random(seed)
    for _ in range(TRIES):
        drawn = _drawn(places, cores.relations, generator)
        if drawn:
            return [cores.cpus[place] for place in drawn]
    return []


def _drawn(
    places: Sequence[int], relations: NDArray[np.int64], generator: random.Random
) -> list[int]:
    """Draw rank by rank from what fits those before it; empty where nothing does."""
    drawn: list[int] = []
    for number, place in enumerate(places):
        to_earlier = relations[list(places[:number]), place]
        fits = (relations[drawn] == to_earlier[:, None]).all(axis=0)
        fits &= relations.diagonal() == relations[place, place]
        fits[drawn] = False
        candidates = np.flatnonzero(fits).tolist()
        if not candidates:
            return []
        drawn.append(generator.choice(candidates))
    return drawn


@cache
def cores_of(allowed: frozenset[int], sysfs: Path = SYSFS) -> Cores:
    """The cores that may be used; none if the system does not say how they lie."""
    cpus = tuple(cpu for group in last_level_caches(allowed, sysfs) for cpu in group)
    siblings = [text_in(sysfs / f"cpu{cpu}" / "topology" / "thread_siblings_list") for cpu in cpus]
    if not all(siblings):
        return Cores((), (), np.zeros((0, 0), dtype=np.int64))
    threads = tuple(frozenset(parse_cpu_list(text)) for text in siblings)
    domains = [_texts(sysfs / f"cpu{cpu}", SHARED) for cpu in cpus]
    kinds = [_texts(sysfs / f"cpu{cpu}", OWN) for cpu in cpus]
    nodes = [_node(sysfs / f"cpu{cpu}") for cpu in cpus]
    distances = {node: text_in(sysfs.parent / "node" / node / "distance").split() for node in nodes}
    columns = {
        node: column
        for column, node in enumerate(
            sorted(distances, key=lambda node: int(node.removeprefix("node") or 0))
        )
    }
    numbers: dict[object, int] = {}
    relations = np.zeros((len(cpus), len(cpus)), dtype=np.int64)
    for i, j in np.ndindex(relations.shape):
        common = tuple(domains[i].get(name) == text for name, text in domains[j].items())
        apart = (nodes[i] == nodes[j], tuple(distances[nodes[i]][columns[nodes[j]] :][:1]))
        own = (*kinds[i].items(), len(threads[i])) if i == j else None
        relations[i, j] = numbers.setdefault((common, apart, own), len(numbers))
    return Cores(cpus, threads, relations)


def _texts(folder: Path, patterns: Sequence[str]) -> dict[str, str]:
    """The files of a core that match, by name within its folder."""
    files = sorted(path for pattern in patterns for path in folder.glob(pattern))
    return {str(path.relative_to(folder)): text_in(path) for path in files}


def _node(folder: Path) -> str:
    """The memory domain of a core, '' if unknown."""
    return next((path.name for path in folder.glob("node[0-9]*")), "")
