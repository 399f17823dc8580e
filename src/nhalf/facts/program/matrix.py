"""The communication matrix, by rank or by host."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import polars as pl

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
        names,
        members @ of_ranks.messages @ members.T,
        members @ of_ranks.bytes @ members.T,
    )
