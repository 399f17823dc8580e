"""The distribution of ranks over hosts: '4x2' is four hosts with two ranks each, '4x2+1' has one
more rank on a fifth.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.errors import InputError

CYCLIC = ":cyclic"
_TEXT = re.compile(r"(\d+)x(\d+)(?:\+(\d+))?(:block|:cyclic)?")
RANKS_MAX = 10_000_000


@dataclass(frozen=True)
class Layout:
    """A layout of `per_host` ranks on each of `hosts` hosts; the last one has `missing` fewer.

    In blocks ranks 0 and 1 are neighbours on a host; `cyclic` assigns ranks to hosts in turn.
    """

    hosts: int
    per_host: int
    cyclic: bool = False
    missing: int = 0

    def __str__(self) -> str:
        """The layout as it is typed."""
        if self.missing:
            return f"{self.hosts - 1}x{self.per_host}+{self.per_host - self.missing}"
        return f"{self.hosts}x{self.per_host}{CYCLIC if self.cyclic else ''}"

    @property
    def ranks(self) -> int:
        """The number of ranks of a full layout."""
        return self.hosts * self.per_host - self.missing

    def host_of(self, rank: int) -> int:
        """The number of the host on which a rank is."""
        return rank % self.hosts if self.cyclic else rank // self.per_host

    def host_names(self, names: Sequence[str], ranks: int) -> list[str]:
        """The name of every rank's host, given the names of the hosts."""
        return [names[self.host_of(rank)] for rank in range(ranks)]


def parse_layout(text: str) -> Layout | None:
    """The layout in '4x2', '4x2+1', '4x2:block' or '4x2:cyclic'; None for a text of another form.

    Raises InputError for one that has no ranks, or too many.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        return None
    hosts, per_host = int(match[1]), int(match[2])
    layout = Layout(hosts, per_host, match[4] == CYCLIC)
    if match[3] is not None:
        more = int(match[3])
        if hosts < 1 or not 0 < more < per_host or layout.cyclic:
            raise InputError(
                f"{text}: the last host has fewer ranks than the others, which lie in blocks",
                "write 4x2+1 for four hosts with two ranks each, and one more rank",
            )
        layout = Layout(hosts + 1, per_host, missing=per_host - more)
    if not 0 < layout.ranks <= RANKS_MAX:
        raise InputError(f"no machine has {layout.ranks} ranks, as {text} says", "write 2x1")
    return layout


def even_share(ranks: int, cores_per_host: int) -> int:
    """The fewest hosts that hold as many ranks each; a host for each rank of a prime number."""
    per_host = range(min(ranks, cores_per_host), 0, -1)
    return next((ranks // cores for cores in per_host if ranks % cores == 0), 0)


def contrasting_layouts(ranks: int, hosts: int, cores_per_host: int) -> list[str]:
    """The layouts that separate on-node from off-node: all ranks on one host, and over many.

    The first is included if one host has the cores for all ranks, the second uses the most hosts
    that share the ranks evenly; at least one of both is returned.
    """
    layouts = [f"1x{ranks}"] if ranks <= cores_per_host else []
    shares = [n for n in range(2, min(ranks, hosts) + 1) if ranks % n == 0]
    if shares:
        layouts.append(f"{shares[-1]}x{ranks // shares[-1]}")
    return layouts or [f"1x{ranks}"]
