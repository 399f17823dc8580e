"""The options of launchers that place ranks on hosts.

From the launchers' own help and manuals: Hydra 5.0 and that of Intel MPI 2021, prterun 3 of Open
MPI, srun 22 to 25. Which hosts there are, and how many of them, stays as the launch has it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.mpi import Library
from nhalf.mpi.launch_words import HYDRA, OPENMPI, SRUN, TRIAL


@dataclass(frozen=True)
class PlacementWords:
    """Options, and those whose place they take, which are named without dashes."""

    options: tuple[str, ...]
    replaced: tuple[str, ...]


REPLACED = {
    HYDRA: ("ppn", "perhost", "rr", "grr", "rankmap"),
    OPENMPI: ("map-by", "rank-by", "npernode", "N"),
    SRUN: ("distribution", "m"),
    TRIAL: ("placement",),
}


def in_blocks(hosts: int, ranks: int) -> list[int]:
    """The host of each rank where neighbours share hosts; `hosts` divides `ranks`."""
    return [rank // (ranks // hosts) for rank in range(ranks)]


def in_turn(hosts: int, ranks: int) -> list[int]:
    """The host of each rank where neighbours are on different hosts."""
    return [rank % hosts for rank in range(ranks)]


def placement_words(
    family: str, library: Library | None, hosts_of_ranks: Sequence[int]
) -> PlacementWords | None:
    """What places each rank on the host of that number; None if the launcher has no words for it.

    Hosts are numbered in the order of the launcher's list.
    """
    options = _options(family, library, list(hosts_of_ranks))
    return PlacementWords(options, REPLACED[family]) if options else None


def _options(family: str, library: Library | None, placed: list[int]) -> tuple[str, ...]:
    hosts, ranks = max(placed) + 1, len(placed)
    is_even = len(set(Counter(placed).values())) == 1 and ranks == hosts * (ranks // hosts)
    is_block = is_even and placed == in_blocks(hosts, ranks)
    is_cyclic = is_even and placed == in_turn(hosts, ranks)
    per_host = ranks // hosts
    rank_map = ",".join(map(str, placed))
    if family == TRIAL:
        text = f"{hosts}x{per_host}" + ("" if is_block else ":cyclic")
        return ("--placement", text if is_block or is_cyclic else rank_map)
    if family == HYDRA and (is_block or is_cyclic):
        return ("-ppn", str(per_host if is_block else 1))
    if family == HYDRA and library is not None and library.vendor == "mpich":
        return ("-rankmap", rank_map)
    if family == OPENMPI and (is_block or is_cyclic):
        return ("--map-by", f"ppr:{per_host}:node" if is_block else "node")
    if family == SRUN and (is_block or is_cyclic):
        return (f"--distribution={'block' if is_block else 'cyclic'}",)
    return ()
