"""Pairs of hosts over time, from the maps of all pairs that runs measured.

A pattern of such a map has a curve for each pair and size. Its time in a launch is that of the
slower way, between the median ranks of both hosts.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.base.carrier import carrier
from nhalf.base.units import format_size
from nhalf.decide.history.levels import Levels, curve_of_nodes
from nhalf.facts.facts import Facts
from nhalf.results.pair_map.times import hosts_of, pair_maps
from nhalf.statistics.intervals import launch_intervals

Key = tuple[Any, ...]
LEAST = 2
"""A curve needs this many runs."""


def pair_levels(
    facts_by_run: Mapping[str, Facts], order: Sequence[str], medians: pl.DataFrame
) -> Iterator[Levels]:
    """The levels of every pair of hosts that two runs or more have; `order` are runs by time.

    They are of the patterns, sizes and libraries (with their `family`) that `medians` has.
    """
    chosen = set(medians.select("run", "pattern", "mpi", "bytes").iter_rows())
    families = dict(medians.select("mpi", "family").unique().iter_rows())
    curves: dict[Key, dict[str, tuple[str, Floats]]] = defaultdict(dict)
    for run in [run for run in order if run in set(medians["run"])]:
        facts = facts_by_run[run]
        for pair_map in pair_maps(facts.measurements, hosts_of(facts.places)):
            pattern, library, size_bytes = (pair_map.key[n] for n in ("pattern", "mpi", "bytes"))
            if (run, pattern, library, size_bytes) not in chosen or not pair_map.by_host:
                continue
            slower_s = np.fmax(pair_map.between_s, pair_map.between_s.swapaxes(1, 2))
            setting = [pair_map.key[name] for name in ("transport", "ranks", "placement", "bytes")]
            for (i, first), (j, second) in combinations(enumerate(pair_map.members), 2):
                times_s = slower_s[:, i, j]
                if np.isfinite(times_s).any():
                    key = (pattern, families[library], *setting, f"{first} {second}")
                    curves[key][run] = library, times_s
    for key, by_run in curves.items():
        if len(by_run) >= LEAST:
            yield _levels(key, by_run)


def _levels(key: Key, by_run: Mapping[str, tuple[str, Floats]]) -> Levels:
    *values, size_bytes, nodes = key
    columns = ("pattern", "mpi", "transport", "ranks", "placement")
    setting = dict(zip(columns, values, strict=True))
    matrix = np.full((len(by_run), max(len(times_s) for _, times_s in by_run.values())), np.nan)
    for row, (_, times_s) in zip(matrix, by_run.values(), strict=True):
        row[: len(times_s)] = times_s
    time_s, low_s, high_s = launch_intervals(matrix)
    launches = np.isfinite(matrix).sum(axis=1)
    is_alone = launches == 1
    library = carrier(setting["mpi"], setting["transport"])
    name = f"{setting['pattern']}, {format_size(size_bytes)}, {library}"
    return Levels(
        curve=curve_of_nodes(nodes, name, **setting),
        sizes=(size_bytes,),
        runs=tuple(by_run),
        libraries=tuple(its for its, _ in by_run.values()),
        launches=tuple(map(int, launches)),
        ratio=time_s / time_s[0],
        low=np.where(is_alone, np.nan, low_s / time_s[0]),
        high=np.where(is_alone, np.nan, high_s / time_s[0]),
        time_s=float(time_s[0]),
        flag_s=np.full(len(by_run), np.nan),
        unknown_share=np.zeros(len(by_run)),
    )
