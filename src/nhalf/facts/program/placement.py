"""A placement of ranks on nodes that minimises the bytes between nodes.

The ranks are partitioned into groups of given sizes. Two partitions are improved by swapping ranks
of two groups as long as that saves bytes (B. W. Kernighan, S. Lin, "An efficient heuristic
procedure for partitioning graphs", Bell System Technical Journal 49 (1970) 291): the one that was
used, and one grown around each rank from those with which it exchanges most. The better one is
taken; it is not always optimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.facts.fact import fact
from nhalf.facts.program.matrix import communication_matrix
from nhalf.facts.program.program import Program

Groups = NDArray[np.int64]
RANKS_MAX = 1024
"""The search time grows with the cube of the number of ranks."""


@dataclass(frozen=True)
class RankGrouping:
    """A group for every rank, and the bytes that cross between groups."""

    groups: tuple[int, ...]
    crossing_bytes: float
    before_bytes: float
    """The bytes that cross in the partition that was used."""

    @property
    def saved_bytes(self) -> float:
        """The reduction of bytes that cross."""
        return self.before_bytes - self.crossing_bytes


def crossing_bytes(bytes_sent: Floats, groups: Groups) -> float:
    """Bytes between ranks of different groups."""
    return float(bytes_sent[groups[:, None] != groups[None, :]].sum())


@fact
def suggested_placement(program: Program) -> RankGrouping | None:
    """A distribution of the ranks over the same hosts that sends less between them."""
    names = list(dict.fromkeys(program.hosts))
    used = [names.index(host) for host in program.hosts]
    return better_placement(communication_matrix(program).bytes, used)


def better_placement(bytes_sent: Floats, used: Sequence[int]) -> RankGrouping | None:
    """The best partition found with the same group sizes; None for one group or too many ranks.

    `bytes_sent` from row to column; `used` is the group (node) of each rank.
    """
    now = np.asarray(used, dtype=np.int64)
    if len(set(used)) < 2 or len(now) > RANKS_MAX:
        return None
    between = bytes_sent + bytes_sent.T
    np.fill_diagonal(between, 0.0)
    tried = [_improved(between, now), _improved(between, _gathered(between, now))]
    best = min(tried, key=lambda groups: crossing_bytes(bytes_sent, groups))
    return RankGrouping(
        tuple(int(group) for group in best),
        crossing_bytes(bytes_sent, best),
        crossing_bytes(bytes_sent, now),
    )


def _gathered(between: Floats, used: Groups) -> Groups:
    """Groups of the same sizes, each grown from a rank by adding the one that exchanges most."""
    groups = np.full(len(used), -1, dtype=np.int64)
    for group, size in zip(*np.unique(used, return_counts=True), strict=True):
        pull = np.zeros(len(used))
        for _ in range(int(size)):
            pull_free = np.where(groups < 0, pull, -1.0)
            chosen = int(pull_free.argmax())
            groups[chosen] = group
            pull += between[chosen]
    return groups


def _improved(between: Floats, start: Groups) -> Groups:
    """Swap the two ranks that save most, until no swap saves anything."""
    groups = start.copy()
    count = int(groups.max()) + 1
    for _ in range(2 * len(groups)):
        member = np.zeros((len(groups), count))
        member[np.arange(len(groups)), groups] = 1.0
        pull = between @ member  # bytes of each rank with each group
        own = pull[np.arange(len(groups)), groups]
        gain = pull[:, groups] - own[:, None]  # of moving the row's rank to the column's group
        saved = gain + gain.T - 2 * between
        saved[groups[:, None] == groups[None, :]] = 0.0
        first, second = np.unravel_index(int(saved.argmax()), saved.shape)
        if saved[first, second] <= 0:
            break
        groups[first], groups[second] = groups[second], groups[first]
    return groups
