# SPDX-License-Identifier: Apache-2.0
"""Which way to multicast is fastest to the whole group, small and large, and what adapters spare.

Times of a simulation have no spread: a difference counts where it is larger than FASTER.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator

import polars as pl

from nhalf.base.rows import Row
from nhalf.base.units import format_size, format_time
from nhalf.facts.facts import Facts
from nhalf.facts.multicast import FORWARDINGS, METHODS, PATTERN, multicasts
from nhalf.facts.series import library_label
from nhalf.present.findings import Finder, Finding
from nhalf.present.wording import FASTER, times, weight
from nhalf.store.keys import RUN_SUBJECT


class Multicast(Finder):
    def find(self, data: Facts) -> Iterator[Finding]:
        points = multicasts(data.summary)
        for _, machine in points.group_by(RUN_SUBJECT, maintain_order=True):
            whole = machine.filter(pl.col("group") == pl.col("group").max())
            name = library_label(data, machine["transport"][0], machine["mpi"][0])
            for forwarding, words in FORWARDINGS.items():
                yield from _fastest(whole.filter(pl.col("forwarding") == forwarding), words, name)
            yield from _spared(whole, name)


def _fastest(points: pl.DataFrame, words: str, name: str) -> Iterator[Finding]:
    """The fastest way at the smallest size, and from which size on it is another."""
    best = _best_by_size(points)
    if not best or best[0]["behind"] <= FASTER:
        return
    first = best[0]
    changes = [f"{row['method']} from {format_size(row['bytes'])} on" for row in best[1:]]
    yield Finding(
        f"{name}, {words} multicast to {first['group']} destinations: {first['method']} is fastest "
        f"for {format_size(first['bytes'])} ({format_time(first['median_s'])}), "
        f"{times(first['behind'])} as fast as {first['slowest']}"
        + "".join(f"; {change}" for change in changes)
        + ".",
        importance=weight(first["behind"], 44, 64),
        kind="multicast-fastest",
        label="Multicast",
        value=first["behind"],
        mpi=points["mpi"][0],
        pattern=PATTERN,
        size_bytes=first["bytes"],
        figure=times(first["behind"]),
    )


def _best_by_size(points: pl.DataFrame) -> list[Row]:
    """The fastest way and the sizes from which on it is that, as few changes as there can be.

    What is not slower by more than FASTER counts as fastest, too; of several the one that stays so
    for most sizes, then the faster.
    """
    by_size = [
        ways.sort("median_s").to_dicts()
        for _, ways in points.sort("bytes").group_by("bytes", maintain_order=True)
        if ways.height > 1
    ]
    found: list[Row] = []
    place = 0
    while place < len(by_size):
        ways = by_size[place]
        left = by_size[place:]
        chosen = min(_contenders(ways), key=lambda way: (-_stays(way, left), *_place(way)))
        behind = ways[-1]["median_s"] / chosen["median_s"]
        found.append({**chosen, "slowest": ways[-1]["method"], "behind": behind})
        place += _stays(chosen, left)
    return found


def _contenders(ways: list[Row]) -> list[Row]:
    """Those of a size that are as good as the fastest, which comes first."""
    return [way for way in ways if way["median_s"] <= ways[0]["median_s"] * FASTER]


def _stays(way: Row, by_size: list[list[Row]]) -> int:
    """For how many sizes a way is among the fastest."""
    names = [{one["method"] for one in _contenders(ways)} for ways in by_size]
    return sum(1 for _ in itertools.takewhile(lambda here: way["method"] in here, names))


def _place(way: Row) -> tuple[float, int]:
    """Order of ways at one size: by time, those that differ by rounding only by METHODS."""
    known = METHODS.index(way["method"]) if way["method"] in METHODS else len(METHODS)
    return float(f"{way['median_s']:.9g}"), known


def _spared(points: pl.DataFrame, name: str) -> Iterator[Finding]:
    """What adapters that forward spare the processors, on the way that gains most."""
    wide = points.filter(pl.col("bytes") == pl.col("bytes").min()).pivot(
        "forwarding", index=["method", "group", "bytes"], values="host_cpu_s"
    )
    if not {"host", "nic"} <= set(wide.columns):
        return
    gains = wide.filter(pl.col("nic") > 0).with_columns(gain=pl.col("host") / pl.col("nic"))
    if gains.is_empty():
        return
    row = gains.sort("gain", descending=True).row(0, named=True)
    if row["gain"] <= FASTER:
        return
    yield Finding(
        f"{name}: where adapters forward by themselves, a multicast to {row['group']} destinations "
        f"takes {format_time(row['nic'])} of a node's processor in the mean and not "
        f"{format_time(row['host'])}, {times(row['gain'])} less.",
        importance=weight(row["gain"], 42, 60),
        kind="multicast-processor",
        label="Spared by adapters",
        value=row["gain"],
        mpi=points["mpi"][0],
        pattern=PATTERN,
        size_bytes=row["bytes"],
        figure=times(row["gain"]),
    )
