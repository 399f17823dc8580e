"""The parts of a lab: places (nodes, switches, routers, the head) and links between them."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from nhalf.base.errors import InputError, unknown

HEAD = "ctl"
NODES_MAX = 120
TOPOLOGIES = ("star", "ring", "tree")


@dataclass(frozen=True)
class LabCable:
    """A cable between two places; only shaped ones get the rate of the lab."""

    a: str
    b: str
    shaped: bool = True


@dataclass(frozen=True)
class LabLayout:
    """The places of a lab by kind, and the links. A router forwards packets, a switch frames.

    `routes` are pairs of a place and the arguments of `ip route add` there; `{net}` stands for the
    first three numbers of the lab's addresses.
    """

    nodes: tuple[str, ...]
    switches: tuple[str, ...]
    routers: tuple[str, ...]
    links: tuple[LabCable, ...]
    head_prefix_bits: int = 24
    routes: tuple[tuple[str, str], ...] = field(default=())

    @property
    def places(self) -> tuple[str, ...]:
        """All places; each has a network namespace."""
        return (HEAD, *self.nodes, *self.switches, *self.routers)

    def port(self, place: str, link: LabCable) -> str:
        """The name of a link's end in a place: the neighbour in switches and routers, else eth0."""
        if place not in (*self.switches, *self.routers):
            return "eth0"
        return link.b if place == link.a else link.a

    def ends(self, link: LabCable) -> tuple[tuple[str, str], tuple[str, str]]:
        """Both ends of a link: place and port."""
        return (link.a, self.port(link.a, link)), (link.b, self.port(link.b, link))

    def node(self, name: str) -> str:
        """The name, if it is a node's; raises InputError otherwise."""
        if name not in self.nodes:
            raise unknown("node", name, self.nodes)
        return name

    def title(self, link: LabCable) -> str:
        """The name of a link for users: links between routers are named after their nodes."""
        ends = (link.a, link.b)
        if all(end in self.routers for end in ends):
            return "-".join(f"n{end[1:]}" for end in ends)
        return "-".join(ends)

    @property
    def data_links(self) -> tuple[LabCable, ...]:
        """The links that messages between nodes take; the others are for control."""
        return tuple(link for link in self.links if link.shaped or link.a in self.nodes)

    def link(self, name: str) -> LabCable:
        """The link called 'A-B', or the one that connects a node.

        Raises InputError if there is none.
        """
        ends = set(name.split("-"))
        for link in self.data_links:
            if name == link.a in self.nodes or ends == set(self.title(link).split("-")):
                return link
        titles = (self.title(link) for link in self.data_links if link.a not in self.nodes)
        raise unknown("link", name, [*self.nodes, *titles])


def layout(topology: str, nodes: int) -> LabLayout:
    """The layout of a topology; raises InputError for an unknown one, or too many nodes."""
    if topology not in TOPOLOGIES:
        raise unknown("topology", topology, TOPOLOGIES)
    if not 1 <= nodes <= NODES_MAX:
        raise InputError(f"a lab of {nodes} nodes cannot be made", f"choose 1 to {NODES_MAX}")
    names = tuple(f"n{number}" for number in range(1, nodes + 1))
    return {"star": _star, "ring": _ring, "tree": _tree}[topology](names)


def _star(nodes: tuple[str, ...]) -> LabLayout:
    """The layout with every node on one switch."""
    links = (LabCable(HEAD, "s0", shaped=False), *(LabCable(node, "s0") for node in nodes))
    return LabLayout(nodes, ("s0",), (), links)


def _tree(nodes: tuple[str, ...]) -> LabLayout:
    """The layout with about as many leaf switches as nodes on each, and one switch above them."""
    per_leaf = math.ceil(math.sqrt(len(nodes)))
    leaves = tuple(f"s{number + 1}" for number in range(math.ceil(len(nodes) / per_leaf)))
    links = [LabCable(HEAD, "s0", shaped=False), *(LabCable(leaf, "s0") for leaf in leaves)]
    links += [LabCable(node, leaves[index // per_leaf]) for index, node in enumerate(nodes)]
    return LabLayout(nodes, ("s0", *leaves), (), tuple(links))


def _ring(nodes: tuple[str, ...]) -> LabLayout:
    """The layout with a router for each node, linked to two neighbours and to the head.

    A node thus has one port and one address, and a library cannot choose a wrong one: packets to
    nodes take the ring, packets to the head take the router's own link to it.
    """
    count = len(nodes)
    routers = tuple(f"r{number}" for number in range(1, count + 1))
    links = [LabCable(HEAD, "s0", shaped=False)]
    links += [LabCable(router, "s0", shaped=False) for router in routers]
    links += [LabCable(*pair, shaped=False) for pair in zip(nodes, routers, strict=True)]
    around = range(count if count > 2 else count - 1)
    links += [LabCable(routers[index], routers[(index + 1) % count]) for index in around]
    routes = [(HEAD, f"{{net}}.{n} via {{net}}.{128 + n}") for n in range(1, count + 1)]
    for router_index in range(count):
        for node_index in range(count):
            routes.append((routers[router_index], _route(router_index, node_index, count)))
    return LabLayout(nodes, ("s0",), routers, tuple(links), 25, tuple(routes))


def _route(router_index: int, node_index: int, count: int) -> str:
    """The route from a router to a node in the shorter direction; ties go upwards."""
    target = f"{{net}}.{node_index + 1}"
    if router_index == node_index:
        return f"{target} dev n{node_index + 1}"
    upwards = (node_index - router_index) % count <= count // 2
    neighbour = (router_index + (1 if upwards else -1)) % count + 1
    return f"{target} via {{net}}.{128 + neighbour} dev r{neighbour} onlink"
