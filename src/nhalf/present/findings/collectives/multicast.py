# SPDX-License-Identifier: Apache-2.0
"""The fastest multicast to the whole group by size, and the processor time that adapters save."""

from __future__ import annotations

from collections.abc import Iterator

from nhalf.base.numbers import times
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.multicast import PATTERN, Fastest, Spared, fastest_multicasts, spared
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import weight


class Multicast(Finder[Facts]):
    def find(self, facts: Facts) -> Iterator[Finding]:
        yield from map(_fastest, fastest_multicasts(facts))
        yield from map(_spared, spared(facts))


def _fastest(multicast: Fastest) -> Finding:
    """The fastest method at the smallest size, and the sizes at which it changes."""
    first = multicast.first
    changes = [f"{row['method']} from {format_size(row['bytes'])} on" for row in multicast.changes]
    return Finding(
        f"{multicast.name}, {multicast.forwarding} multicast to {first['group']} destinations: "
        f"{first['method']} is fastest for {format_size(first['bytes'])} "
        f"({format_time(first['median_s'])}), {times(first['behind'])} as fast as "
        f"{first['slowest']}" + "".join(f"; {change}" for change in changes) + ".",
        importance=weight(first["behind"], 44, 64),
        kind="multicast-fastest",
        label="Multicast",
        value=first["behind"],
        mpi=multicast.mpi,
        pattern=PATTERN,
        size_bytes=first["bytes"],
        figure=times(first["behind"]),
    )


def _spared(saving: Spared) -> Finding:
    return Finding(
        f"{saving.name}: when adapters forward messages, a multicast to {saving.group} "
        f"destinations takes {format_time(saving.nic_s)} of processor time per node on average "
        f"instead of {format_time(saving.host_s)}, {times(saving.gain_ratio)} less.",
        importance=weight(saving.gain_ratio, 42, 60),
        kind="multicast-processor",
        label="Saved by adapters",
        value=saving.gain_ratio,
        mpi=saving.mpi,
        pattern=PATTERN,
        size_bytes=saving.size_bytes,
        figure=times(saving.gain_ratio),
    )
