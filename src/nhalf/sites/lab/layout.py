"""The parts of a lab: places and links between them, and the folder that keeps its state."""

import fcntl
import math
import os
import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

import msgspec

from nhalf.base.errors import FailedError, InputError, unknown
from nhalf.base.files import write_bytes
from nhalf.base.unreadable import UNREADABLE

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


ROOT = Path("/run/nhalf-lab")
NET = "198.18.0"
"""The first three numbers of all addresses in a lab, of the range for benchmarks (RFC 2544).

Nothing outside a lab sees them, so that all labs have the same.
"""
LOCK_TIMEOUT_S = 60.0
_NAME = re.compile(r"[a-z][a-z0-9-]{0,19}")


class Lab(msgspec.Struct, frozen=True, dict=True):
    """The request: all that the lab is made from."""

    name: str
    nodes: int
    topology: str = "star"
    cpus: int = 4
    rate_Bps: float | None = None
    slow_Bps: dict[str, float] = {}
    number: int | None = None
    """Names the namespaces of a lab that nhalf 1.0 made, and is None for others."""

    @property
    def folder(self) -> Path:
        """The folder of the lab's files."""
        return ROOT / self.name

    @cached_property
    def layout(self) -> LabLayout:
        """The lab's places and links."""
        return layout(self.topology, self.nodes)

    def namespace(self, place: str) -> str:
        """The name of a place's network namespace, as `ip netns` lists it."""
        return f"nhalf-{self.name}-{place}" if self.number is None else f"nhalf{self.number}{place}"

    def address(self, place: str) -> str:
        """The address of a node, a router or the head."""
        if place == HEAD:
            return f"{NET}.254"
        number = int(place[1:])
        return f"{NET}.{number + (128 if place.startswith('r') else 0)}"

    @property
    def slurm_conf(self) -> Path:
        """The value of SLURM_CONF."""
        return self.folder / "slurm.conf"

    @property
    def hosts_file(self) -> Path:
        """The file mounted over /etc/hosts in every place, which identifies the lab's processes."""
        return self.folder / "hosts"

    def save(self) -> None:
        """Write the description of the lab atomically."""
        write_bytes(self.folder / "lab.json", msgspec.json.encode(self))


def folder_of(name: str) -> Path:
    """The folder of a lab of that name; raises InputError if no lab can be called so."""
    if not _NAME.fullmatch(name):
        remedy = "take up to 20 small letters, digits and dashes, a letter first"
        raise InputError(f"a lab cannot be called {name!r}", remedy)
    return ROOT / name


def names() -> list[str]:
    """The names of the labs that are up, and of remains of others."""
    return sorted(path.name for path in ROOT.iterdir() if path.is_dir()) if ROOT.is_dir() else []


def load(name: str) -> Lab:
    """The lab of that name; raises InputError if there is none."""
    lab = read(folder_of(name))
    if lab is None:
        if folder_of(name).exists():
            raise InputError(f"the lab {name} was not finished", f"nhalf lab down --name {name}")
        if names():
            raise unknown("lab", name, names())
        raise InputError("there is no lab on this machine", "start one: nhalf lab up")
    return lab


def read(folder: Path) -> Lab | None:
    """The lab described in a folder; None if there is none."""
    try:
        return msgspec.json.decode((folder / "lab.json").read_bytes(), type=Lab)
    except (OSError, *UNREADABLE):
        return None


@contextmanager
def locked() -> Iterator[None]:
    """Hold the lock for creating and removing labs; the folder of all labs exists meanwhile."""
    deadline = time.monotonic() + LOCK_TIMEOUT_S
    descriptor = _lock(deadline)
    try:
        yield
    finally:
        if not any(ROOT.iterdir()):
            ROOT.rmdir()
        os.close(descriptor)


def _lock(deadline: float) -> int:
    """Take an exclusive lock on the present folder, not on one that was just removed."""
    while time.monotonic() < deadline:
        ROOT.mkdir(mode=0o755, exist_ok=True)
        descriptor = os.open(ROOT, os.O_RDONLY)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            if ROOT.exists() and os.fstat(descriptor).st_ino == ROOT.stat().st_ino:
                return descriptor
        except BlockingIOError:
            time.sleep(0.05)
        os.close(descriptor)
    raise FailedError(
        f"another nhalf lab holds {ROOT} for longer than {LOCK_TIMEOUT_S:g} s", "wait or end it"
    )
