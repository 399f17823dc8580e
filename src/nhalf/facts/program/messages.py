"""Messages between ranks: who sends to whom, how, in which sizes, and on which hosts they are.

A placement partitions the ranks into groups of given sizes. Two partitions are improved by swapping
ranks of two groups as long as that saves bytes (B. W. Kernighan, S. Lin, "An efficient heuristic
procedure for partitioning graphs", Bell System Technical Journal 49 (1970) 291): the one that was
used, and one grown around each rank from those with which it exchanges most. The better one is
taken; it is not always optimal.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl
from numpy.typing import NDArray

from nhalf.base.arrays import Floats
from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program


@dataclass(frozen=True)
class Matrix:
    """Messages and bytes from each member (row) to each (column)."""

    names: tuple[str, ...]
    messages: Floats
    bytes: Floats

    def ordered(self, order: Sequence[int]) -> Matrix:
        """Return the matrix with its members reordered."""
        names = tuple(self.names[place] for place in order)
        where = np.ix_(order, order)
        return Matrix(names, self.messages[where], self.bytes[where])


@fact
def communication_matrix(program: Program) -> Matrix:
    """The matrix of the ranks of MPI_COMM_WORLD."""
    ranks = program.ranks
    pairs = program.sent.group_by("rank", "partner").agg(pl.col("count", "bytes").sum())
    messages, sizes = np.zeros((ranks, ranks)), np.zeros((ranks, ranks))
    where = (pairs["rank"].to_numpy(), pairs["partner"].to_numpy())
    messages[where] = pairs["count"].to_numpy()
    sizes[where] = pairs["bytes"].to_numpy()
    return Matrix(tuple(str(rank) for rank in range(ranks)), messages, sizes)


def by_host(of_ranks: Matrix, hosts: Sequence[str]) -> Matrix:
    """The matrix of hosts; the diagonal is traffic within a host."""
    names = tuple(dict.fromkeys(hosts))
    members = np.zeros((len(names), len(hosts)))
    for rank, host in enumerate(hosts):
        members[names.index(host), rank] = 1
    return Matrix(
        names, members @ of_ranks.messages @ members.T, members @ of_ranks.bytes @ members.T
    )


@fact
def sends_by_rank(program: Program) -> pl.DataFrame:
    """One row per rank, including those that send nothing.

    Columns `rank`, `messages`, `bytes`, `mean_bytes` (null without messages), `destinations`.
    """
    destinations = pl.col("partner").filter(pl.col("partner") >= 0).n_unique()
    sums = program.messages.group_by("rank").agg(
        messages=pl.col("count").sum(), bytes=pl.col("bytes").sum(), destinations=destinations
    )
    all_ranks = pl.DataFrame({"rank": range(program.ranks)}, schema={"rank": pl.Int32})
    full = all_ranks.join(sums, on="rank", how="left").with_columns(
        pl.col("messages", "bytes").fill_null(0), pl.col("destinations").cast(pl.Int64).fill_null(0)
    )
    mean = pl.when(pl.col("messages") > 0).then(pl.col("bytes") / pl.col("messages"))
    return full.with_columns(mean_bytes=mean).sort("rank")


def spread(values: pl.Series) -> dict[str, float]:
    """Minimum, mean and maximum over the ranks."""
    if values.is_empty():
        return {"min": 0, "mean": 0.0, "max": 0}
    return {
        "min": values.min(),  # type: ignore[dict-item]
        "mean": float(values.mean() or 0),  # type: ignore[arg-type]
        "max": values.max(),  # type: ignore[dict-item]
    }


def destination_histogram(by_rank: pl.DataFrame) -> pl.DataFrame:
    """The number of ranks for each number of destinations: columns `destinations`, `ranks`."""
    return by_rank.group_by("destinations").agg(ranks=pl.len()).sort("destinations")


@fact
def message_sizes(program: Program) -> pl.DataFrame:
    """One row per size of messages, the smallest first.

    Columns `size_bytes`, `messages`, `bytes` and the cumulative shares `messages_share` and
    `bytes_share` of messages of this size or smaller (0 to 1).
    """
    by_size = (
        program.messages.group_by("size_bytes")
        .agg(messages=pl.col("count").sum(), bytes=pl.col("bytes").sum())
        .sort("size_bytes")
    )
    return by_size.with_columns(
        messages_share=pl.col("messages").cum_sum() / pl.col("messages").sum(),
        bytes_share=pl.when(pl.col("bytes").sum() > 0)
        .then(pl.col("bytes").cum_sum() / pl.col("bytes").sum())
        .otherwise(1.0),
    )


def histogram(by_size: pl.DataFrame) -> pl.DataFrame:
    """The sizes in classes that double: columns `from_bytes`, `to_bytes`, `messages`, `bytes`.

    A class holds the sizes from `from_bytes` up to, not including, `to_bytes`; zero bytes form
    their own class, and classes without messages are left out.
    """
    lows = [1 << size.bit_length() >> 1 for size in by_size["size_bytes"]]
    classes = (
        by_size.with_columns(pl.Series("from_bytes", lows, dtype=pl.Int64))
        .group_by("from_bytes")
        .agg(pl.col("messages", "bytes").sum())
    )
    high = pl.when(pl.col("from_bytes") == 0).then(1).otherwise(pl.col("from_bytes") * 2)
    return classes.with_columns(to_bytes=high.cast(pl.Int64)).sort("from_bytes")


def median_bytes(by_size: pl.DataFrame) -> int:
    """The median message size; 0 without messages."""
    reached = by_size.filter(pl.col("messages_share") >= 0.5)
    return 0 if reached.is_empty() else int(reached["size_bytes"][0])


def share_below(by_size: pl.DataFrame, size_bytes: int) -> float:
    """The share of messages smaller than a size, 0 to 1."""
    total = int(by_size["messages"].sum())
    smaller = int(by_size.filter(pl.col("size_bytes") < size_bytes)["messages"].sum())
    return smaller / total if total else 0.0


def hosts_together(hosts: Sequence[str]) -> list[int]:
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
