"""Orders of ranks in which those that exchange much data are adjacent."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from nhalf.base.arrays import Floats


def by_host(hosts: Sequence[str]) -> list[int]:
    """Ranks grouped by host, the hosts in order of first appearance."""
    first = {host: place for place, host in reversed(list(enumerate(hosts)))}
    return sorted(range(len(hosts)), key=lambda rank: (first[hosts[rank]], rank))


def by_traffic(bytes_sent: Floats) -> list[int]:
    """Ranks that exchange most data adjacent: average linkage on the logarithm of their bytes."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    between = np.log1p(bytes_sent + bytes_sent.T)
    if len(between) < 3 or not between.any():
        return list(range(len(between)))
    apart = between.max() - between
    np.fill_diagonal(apart, 0)
    tree = linkage(squareform(apart, checks=False), "average")
    return [int(place) for place in leaves_list(tree)]
