"""The topology of a platform, in SimGrid's terms."""

from __future__ import annotations

from dataclasses import dataclass

from nhalf.base.errors import InputError
from nhalf.exchange.exporters import ExportOptions
from nhalf.machines.machine import Node
from nhalf.machines.topology import (
    Crossbar,
    FatTree,
    Topology,
    Torus,
    elementary,
    in_words,
)

NODES = 16
"""Default number of nodes of a crossbar without a fixed number."""


@dataclass(frozen=True)
class NetworkShape:
    """The connection of the nodes in SimGrid's terms, and the links between neighbours."""

    nodes: int
    attributes: str
    links: int
    varies: bool
    words: str

    @property
    def is_flat(self) -> bool:
        """Whether every node has a link to one switch, and nothing else."""
        return not self.attributes


def shape_of(topology: Topology, node: Node, options: ExportOptions) -> NetworkShape:
    """The attributes of a cluster; raises InputError if it is too small for the ranks."""
    needed = -(-(options.ranks or 0) // node.ranks)
    if isinstance(topology, Crossbar) and not topology.nodes:
        topology = Crossbar(max(2, needed or NODES))
    if needed > topology.nodes:
        raise InputError(
            f"{options.ranks} ranks need {needed} nodes of {node.ranks}",
            f"there are {topology.nodes}: ask for fewer, or --set network.topology=...",
        )
    words, topology = in_words(topology), elementary(topology)
    match topology:
        case FatTree(down, up, cables):
            levels = ";".join(",".join(map(str, level)) for level in (down, up, cables))
            attributes = f'topology="FAT_TREE" topo_parameters="{len(down)};{levels}"'
            links, varies = 2, len(down) > 1
        case Torus(dimensions):
            sizes = [size for size in dimensions if size > 1] or [1]
            attributes = f'topology="TORUS" topo_parameters="{",".join(map(str, sizes))}"'
            links, varies = 1, topology.nodes > 3
        case _:
            return NetworkShape(topology.nodes, "", 2, False, words)
    return NetworkShape(topology.nodes, f"\n             {attributes}", links, varies, words)
