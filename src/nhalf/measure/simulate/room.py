"""Whether a simulated machine can hold the requested ranks."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from nhalf.base.errors import InputError
from nhalf.machines.machine import Machine
from nhalf.measure.plan.plan import Block
from nhalf.sites.placement import Placement
from nhalf.sites.site import Site

CHANGE = "change the machine: --set network.topology=... or --set node.ranks=..."


def ranks_asked(ranks: str, placements: Iterable[Placement]) -> int:
    """Return the largest number of ranks written as a number, in a list or layout; default 2."""
    layouts = [placement.layout for placement in placements if placement.layout]
    return max([*numbers_of(ranks), *(layout.ranks for layout in layouts)], default=2)


def numbers_of(ranks: str) -> list[int]:
    """Return the numbers of ranks that are written as such, alone, in a list, or as an end."""
    words = ranks.replace(":", ",").split(",")
    return [int(word) for word in words if word.strip().isdecimal()]


def check_placements(machine: Machine, placements: Sequence[Placement], site: Site) -> None:
    """Raises InputError for placements that are unknown or need more nodes than available."""
    for placement in placements:
        needed = placement.check().hosts
        if needed > len(site.hosts):
            nodes = _count(len(site.hosts), "node")
            raise InputError(
                f"{machine.name} has {nodes}, and {placement.text} needs {needed}",
                f"choose another --placement, or {CHANGE}",
            )


def check_room(machine: Machine, blocks: Sequence[Block], site: Site) -> None:
    """Raises InputError if a machine, or one of its nodes, cannot hold the ranks."""
    for block in blocks:
        most = max(block.ranks, default=0)
        if most > site.cores:
            nodes = _count(len(site.hosts), "node")
            raise InputError(
                f"{machine.name} has {nodes} of {_count(site.cores_per_host, 'rank')}, not {most}",
                f"ask for fewer, or {CHANGE}",
            )
        for placement in block.parsed_placements:
            fitting_ranks = filter(placement.fits, block.ranks)
            crowd = max(
                (site.layout(placement.text, ranks).per_host for ranks in fitting_ranks),
                default=0,
            )
            if crowd > site.cores_per_host:
                raise InputError(
                    f"a node of {machine.name} holds {_count(site.cores_per_host, 'rank')}, and "
                    f"{placement.text} puts {crowd} there",
                    f"ask for fewer, or {CHANGE}",
                )


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"
