"""The distribution of ranks over hosts: '4x2' is four hosts with two ranks each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from nhalf.base.errors import InputError

CYCLIC = ":cyclic"
_TEXT = re.compile(r"(\d+)x(\d+)(:block|:cyclic)?")
RANKS_MAX = 10_000_000


@dataclass(frozen=True)
class Layout:
    """A layout of `per_host` ranks on each of `hosts` hosts; the last hosts may have fewer.

    In blocks ranks 0 and 1 are neighbours on a host; `cyclic` assigns ranks to hosts in turn.
    """

    hosts: int
    per_host: int
    cyclic: bool = False

    @property
    def ranks(self) -> int:
        """The number of ranks of a full layout."""
        return self.hosts * self.per_host

    def host_of(self, rank: int) -> int:
        """The number of the host on which a rank is."""
        return rank % self.hosts if self.cyclic else rank // self.per_host

    def host_names(self, names: Sequence[str], ranks: int) -> list[str]:
        """The name of every rank's host, given the names of the hosts."""
        return [names[self.host_of(rank)] for rank in range(ranks)]


def parse_layout(text: str) -> Layout | None:
    """The layout in '4x2', '4x2:block' or '4x2:cyclic'; None for a text of another form.

    Raises InputError for one that has no ranks, or too many.
    """
    match = _TEXT.fullmatch(text)
    if match is None:
        return None
    layout = Layout(int(match[1]), int(match[2]), match[3] == CYCLIC)
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
