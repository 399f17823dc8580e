"""The site of a run: this machine, or hosts with a launcher that reaches them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from nhalf.base.errors import InputError, MissingError
from nhalf.machines.layout import Layout, parse_layout
from nhalf.sites.hosts import Host, allocation, named_hosts
from nhalf.sites.launchers import check_launcher
from nhalf.sites.placement import EVERY_HOST, FREE, ONE_HOST, OTHER_NODE, WHOLE_HOST, allowed_cpus
from nhalf.sites.start import Spread, cores

LAB = "NHALF_LAB"
"""Set by `nhalf lab exec`: all hosts are namespaces of one machine and share its cores."""


@dataclass(frozen=True)
class Site:
    """Hosts in the order in which ranks fill them; none means this machine.

    `launcher` is the name of a launcher, '' for the one that came with each library; `source`
    describes the origin of the hosts.
    """

    hosts: tuple[Host, ...] = ()
    launcher: str = ""
    source: str = "this machine"
    shares_cores: bool = False
    """Whether the hosts share the cores of one machine, so that binding would stack ranks."""

    @property
    def has_several_hosts(self) -> bool:
        """Whether ranks can be on different hosts."""
        return len(self.hosts) > 1

    @property
    def cores(self) -> int:
        """The number of ranks that can have their own core."""
        return cores() if self.shares_cores or not self.hosts else sum(map(_cores_of, self.hosts))

    @property
    def cores_per_host(self) -> int:
        """The cores of the smallest host."""
        return min(map(_cores_of, self.hosts)) if self.hosts else cores()

    def as_json(self) -> dict[str, Any]:
        """The site of a run, as stored in its description."""
        return {
            "hosts": [str(host) for host in self.hosts],
            "launcher": self.launcher or "each library's own",
            "source": self.source,
            "shares_cores": self.shares_cores,
        }

    def layout_text(self, placement: str) -> str:
        """The layout of 'every-host' or 'whole-host' on this site, '' for none; else the text.

        On one machine there are no pairs of hosts, so that 'every-host' has no layout.
        """
        if placement == WHOLE_HOST:
            return f"1x{max(min(self.cores_per_host, self.cores), 2)}"
        if placement == EVERY_HOST:
            return f"{len(self.hosts)}x1" if self.has_several_hosts else ""
        return placement

    def layout(self, placement: str, ranks: int) -> Layout:
        """The layout of a placement of this many ranks over these hosts.

        Raises MissingError if there are too few hosts, InputError if the numbers of ranks
        contradict each other.
        """
        host_count = max(len(self.hosts), 1)
        layout = parse_layout(placement)
        if placement in ONE_HOST:
            return Layout(1, ranks)
        if placement == OTHER_NODE:
            layout = Layout(
                min(ranks, host_count), -(-ranks // min(ranks, host_count)), cyclic=True
            )
            if host_count == 1:
                layout = Layout(2, 1)
        if layout is None:
            used_hosts = min(host_count, -(-ranks // self.cores_per_host))
            return Layout(used_hosts, -(-ranks // used_hosts))
        if layout.hosts > host_count:
            available = (
                "there is one host only"
                if host_count == 1
                else f"there are {host_count} hosts only"
            )
            needed_hosts = "several" if placement == OTHER_NODE else layout.hosts
            remedy = "give --hosts, or run inside an allocation of several hosts"
            raise MissingError(f"{available}: {placement} needs {needed_hosts}", remedy)
        if placement != OTHER_NODE and layout.ranks != ranks:
            raise InputError(f"{placement} holds {layout.ranks} ranks, not {ranks}")
        return layout

    def cores_of_one_host(self, placement: str, layout: Layout) -> list[int]:
        """The core of each rank if hosts share cores and the ranks are on one host.

        Launchers of several such hosts must not bind, so that the probe does it. Empty in any
        other case, and if there are too few cores.
        """
        cpus = sorted(allowed_cpus())
        must_bind = self.shares_cores and placement != FREE and layout.hosts == 1
        return cpus[: layout.ranks] if must_bind and layout.ranks <= len(cpus) else []

    def spread(self, layout: Layout) -> Spread:
        """The distribution of ranks for a launcher in this layout."""
        used = self.hosts[: layout.hosts]
        return Spread(
            hosts=tuple(host.name for host in used),
            ranks_per_host=layout.per_host,
            cyclic=layout.cyclic,
            oversubscribed=any(_cores_of(host) < layout.per_host for host in used),
            launcher=self.launcher,
        )

    def expected_hosts(self, placement: str, ranks: int) -> list[str]:
        """The name of every rank's host; none on this machine."""
        if not self.hosts:
            return []
        names = [host.name for host in self.hosts]
        return self.layout(placement, ranks).host_names(names, ranks)

    def without(self, dead: Collection[str]) -> Site:
        """The site without dead hosts."""
        alive = tuple(host for host in self.hosts if host.name not in dead)
        return dataclasses.replace(self, hosts=alive)


HERE = Site()
"""The site of this machine."""


def find_site(hosts: str, host_file: str, launcher: str) -> Site:
    """The site with the hosts that the user named, else of the allocation, else this machine.

    `hosts` and `host_file` are '' if not given. Raises InputError for lists that cannot be
    read.
    """
    check_launcher(launcher)
    shares_cores = bool(os.environ.get(LAB))
    given_hosts = named_hosts(hosts, host_file)
    if given_hosts:
        return Site(tuple(given_hosts), launcher, "--hosts" if hosts else host_file, shares_cores)
    allocated = allocation(os.environ)
    if allocated is None:
        return Site((), launcher)
    return Site(tuple(allocated.hosts), launcher, allocated.source, shares_cores)


def _cores_of(host: Host) -> int:
    """The cores of a host; if unspecified, as many as this machine has."""
    return host.cores or cores()
