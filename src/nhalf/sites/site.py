# SPDX-License-Identifier: Apache-2.0
"""Where a run measures: this machine, or hosts with a launcher that reaches them."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from nhalf.base.errors import InputError, MissingError
from nhalf.machines.layout import Layout, parse_layout
from nhalf.sites.allocation import allocation
from nhalf.sites.hosts import Host, parse_hosts, read_host_file
from nhalf.sites.launchers import check_launcher
from nhalf.sites.placement import EVERY_HOST, FREE, ONE_HOST, OTHER_NODE, WHOLE_HOST
from nhalf.sites.start import Spread, cores
from nhalf.sites.topology import allowed_cpus

LAB = "NHALF_LAB"
"""Set by `nhalf lab exec`: all hosts are namespaces of one machine and share its cores."""


@dataclass(frozen=True)
class Site:
    """Hosts in the order in which ranks fill them; none means this machine.

    `launcher` is the name of one, '' for the one that came with each library; `source` says in
    words where the hosts come from.
    """

    hosts: tuple[Host, ...] = ()
    launcher: str = ""
    source: str = "this machine"
    shares_cores: bool = False
    """Whether the hosts share the cores of one machine, so that binding would stack ranks."""

    @property
    def several(self) -> bool:
        """Whether ranks can be on different hosts."""
        return len(self.hosts) > 1

    @property
    def cores(self) -> int:
        """How many ranks have their own core."""
        if self.shares_cores or not self.hosts:
            return cores()
        return sum(map(_cores_of, self.hosts))

    @property
    def cores_per_host(self) -> int:
        """The cores of the smallest host."""
        return min(map(_cores_of, self.hosts)) if self.hosts else cores()

    def in_words(self) -> dict[str, Any]:
        """The site of a run, as stored in its description."""
        return {
            "hosts": [str(host) for host in self.hosts],
            "launcher": self.launcher or "each library's own",
            "source": self.source,
            "shares_cores": self.shares_cores,
        }

    def in_numbers(self, placement: str) -> str:
        """The layout that 'every-host' and 'whole-host' mean here, '' for none; else the text.

        On one machine there are no pairs of hosts, so that 'every-host' means nothing.
        """
        if placement == WHOLE_HOST:
            return f"1x{max(min(self.cores_per_host, self.cores), 2)}"
        if placement == EVERY_HOST:
            return f"{len(self.hosts)}x1" if self.several else ""
        return placement

    def layout(self, placement: str, ranks: int) -> Layout:
        """The layout of a placement of this many ranks over these hosts.

        Raises MissingError if there are not hosts enough, InputError where the numbers of
        ranks contradict each other.
        """
        here = max(len(self.hosts), 1)
        asked = parse_layout(placement)
        if placement in ONE_HOST:
            return Layout(1, ranks)
        if placement == OTHER_NODE:
            asked = Layout(min(ranks, here), -(-ranks // min(ranks, here)), cyclic=True)
            if here == 1:
                asked = Layout(2, 1)
        if asked is None:
            used = min(here, -(-ranks // self.cores_per_host))
            return Layout(used, -(-ranks // used))
        if asked.hosts > here:
            there = "there is one host only" if here == 1 else f"there are {here} hosts only"
            needed = "several" if placement == OTHER_NODE else asked.hosts
            raise MissingError(
                f"{there}: {placement} needs {needed}",
                "give --hosts, or run inside an allocation of several hosts",
            )
        if placement != OTHER_NODE and asked.ranks != ranks:
            raise InputError(f"{placement} holds {asked.ranks} ranks, not {ranks}")
        return asked

    def cores_of_one_host(self, placement: str, layout: Layout) -> list[int]:
        """The core of each rank where hosts share cores and the ranks are on one host.

        Launchers of several such hosts must not bind, so that the probe does it. Empty in any
        other case, and where there are not cores enough.
        """
        here = sorted(allowed_cpus())
        wanted = self.shares_cores and placement != FREE and layout.hosts == 1
        return here[: layout.ranks] if wanted and layout.ranks <= len(here) else []

    def spread(self, layout: Layout) -> Spread:
        """The information that a launcher needs for this layout."""
        used = self.hosts[: layout.hosts]
        return Spread(
            hosts=tuple(host.name for host in used),
            ranks_per_host=layout.per_host,
            cyclic=layout.cyclic,
            crowded=any(_cores_of(host) < layout.per_host for host in used),
            launcher=self.launcher,
        )

    def expected(self, placement: str, ranks: int) -> list[str]:
        """The name of every rank's host; none on this machine."""
        if not self.hosts:
            return []
        names = [host.name for host in self.hosts]
        return self.layout(placement, ranks).expected(names, ranks)

    def without(self, dead: Collection[str]) -> Site:
        """The remaining hosts when some are dead."""
        left = tuple(host for host in self.hosts if host.name not in dead)
        return dataclasses.replace(self, hosts=left)


HERE = Site()
"""This machine."""


def find_site(hosts: str, host_file: str, launcher: str) -> Site:
    """The hosts that the user named, else those of the allocation, else this machine.

    `hosts` and `host_file` are '' if not given. Raises InputError for lists that cannot be
    read.
    """
    check_launcher(launcher)
    if hosts and host_file:
        raise InputError("--hosts and --host-file name hosts twice", "give one of them")
    shares_cores = bool(os.environ.get(LAB))
    if hosts or host_file:
        named = parse_hosts(hosts) if hosts else read_host_file(Path(host_file))
        return Site(tuple(named), launcher, "--hosts" if hosts else host_file, shares_cores)
    found = allocation(os.environ)
    if found is None:
        return Site((), launcher)
    return Site(tuple(found.hosts), launcher, found.source, shares_cores)


def _cores_of(host: Host) -> int:
    """The cores of a host; if unspecified, as many as this machine has."""
    return host.cores or cores()
