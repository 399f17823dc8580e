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
from nhalf.decide.history.levels import NAME, NODES, Levels, node_levels
from nhalf.facts.facts import Facts
from nhalf.results.pair_map.times import hosts_of, pair_maps

Key = tuple[Any, ...]
SETTING = ("pattern", "mpi", "transport", "ranks", "placement")
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
            setting = [pair_map.key[name] for name in (*SETTING[2:], "bytes")]
            for (i, first), (j, second) in combinations(enumerate(pair_map.members), 2):
                times_s = slower_s[:, i, j]
                if np.isfinite(times_s).any():
                    key = (pattern, families[library], *setting, f"{first} {second}")
                    curves[key][run] = library or "", times_s
    for (*setting, size_bytes, nodes), its_runs in curves.items():
        if len(its_runs) >= LEAST:
            curve = dict(zip(SETTING, setting, strict=True))
            library = carrier(curve["mpi"], curve["transport"])
            name = f"{curve['pattern']}, {format_size(size_bytes)}, {library}"
            yield node_levels({**curve, NODES: nodes, NAME: name}, its_runs, (size_bytes,))
