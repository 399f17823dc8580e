# SPDX-License-Identifier: Apache-2.0
"""Multicasts by forwarding scheme: completion, host CPU time and link usage."""

from __future__ import annotations

import polars as pl

from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.store.axes import axis
from nhalf.store.keys import RUN_SUBJECT
from nhalf.store.values import value

PATTERN = "multicast"
BY_NUMBER = ("separate", "serial", "binary", "binomial")
ON_TORUS = ("u-torus", "s-torus", "md-torus", "mu-torus")
METHODS = (*BY_NUMBER, *ON_TORUS)
FORWARDINGS = {"host": "host-based", "nic-assisted": "NIC-assisted", "nic": "NIC-based"}
"""What makes the copies of a message, with its description."""
VALUES = ("host_cpu_s", "host_cpu_source_s", "links_used", "link_visits", "link_concentration")
CASE = (*RUN_SUBJECT, "bytes", "group", "forwarding")
"""The settings in which multicast methods are compared."""


@fact
def multicasts(facts: Facts) -> pl.DataFrame:
    """One row per case (CASE) and `method`, with the columns `median_s` and VALUES, sorted.

    Times in seconds; each column is the median over the random sets of destinations drawn. A
    method is named with its number of parts if that is not the default, and with the size of
    pieces if messages were cut. `host_cpu_share` is the mean processor time of a node over the
    completion. `series` is the machine and whatever distinguishes the runs.
    """
    points = facts.summary.filter((pl.col("pattern") == PATTERN) & (pl.col("median_s") > 0))
    parts, piece = axis("parts"), axis("piece")
    in_pieces = (
        pl.when(piece.is_null() | (piece == "0"))
        .then(pl.lit(""))
        .otherwise(", pieces of " + piece + " B")
    )
    cases = points.select(
        *RUN_SUBJECT,
        "bytes",
        pl.when(parts.is_null())
        .then(axis("algorithm"))
        .otherwise(axis("algorithm") + ", r=" + parts)
        .add(in_pieces)
        .alias("method"),
        axis("forwarding"),
        axis("group").cast(pl.Int64),
        "median_s",
        *map(value, VALUES),
    )
    medians = (
        cases.drop_nulls(["method", "forwarding", "group"])
        .group_by(*CASE, "method")
        .agg(pl.col("median_s", *VALUES).median())
        .with_columns(host_cpu_share=pl.col("host_cpu_s") / pl.col("median_s"))
        .sort(*CASE, "method")
    )
    plain = medians.with_columns(algorithm=pl.lit(""), pattern=pl.lit("multicast"))
    return with_series(plain, facts).drop("algorithm", "pattern")


def forwardings_of(points: pl.DataFrame) -> list[str]:
    """The descriptions of forwarding, from the host to the adapter."""
    measured = set(points["forwarding"])
    return [words for name, words in FORWARDINGS.items() if name in measured]


def methods_of(points: pl.DataFrame) -> list[str]:
    """The methods present, in their usual order; those with other numbers of parts last."""
    methods = set(points["method"])
    ordinary = [name for name in METHODS if name in methods]
    return [*ordinary, *sorted(methods.difference(ordinary))]
