"""Multicasts by forwarding scheme: completion, host CPU time, links, and the fastest method.

Simulated times have no spread: a difference counts if it is larger than FASTER.
"""

import itertools
from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.difference import FASTER
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import library_label, with_series
from nhalf.store.keys import RUN_SUBJECT, axis, value

PATTERN = "multicast"
BY_NUMBER = ("separate", "serial", "binary", "binomial")
ON_TORUS = ("u-torus", "s-torus", "md-torus", "mu-torus")
METHODS = (*BY_NUMBER, *ON_TORUS)
FORWARDINGS = {"host": "host-based", "nic-assisted": "NIC-assisted", "nic": "NIC-based"}
"""What makes the copies of a message, with its description."""
HOST_CPU, HOST_CPU_SHARE = "host_cpu_s", "host_cpu_share"
"""Mean processor time of the nodes that take part, and its share of the completion."""
VALUES = (HOST_CPU, "host_cpu_source_s", "links_used", "link_visits", "link_concentration")
CASE = (*RUN_SUBJECT, "bytes", "group", "forwarding")
"""The settings in which multicast methods are compared."""


@fact
def multicasts(facts: Facts) -> pl.DataFrame:
    """One row per case (CASE) and `method`, with the columns `median_s` and VALUES, sorted.

    Times in seconds; each column is the median over the random sets of destinations drawn. A
    method is named with its number of parts if that is not the default, and with the size of
    pieces if messages were cut. `host_cpu_share` is the mean processor time of a node over the
    completion, at most 1: where they were measured, they are of different multicasts. `series` is
    the machine and whatever distinguishes the runs.
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
        .with_columns(
            (pl.col(HOST_CPU) / pl.col("median_s")).clip(upper_bound=1).alias(HOST_CPU_SHARE)
        )
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


@dataclass(frozen=True)
class Fastest:
    """The fastest method at the smallest size, and the sizes at which it changes.

    Rows have `method`, `bytes`, `group`, `median_s`, `slowest` (the slowest method at that size)
    and `behind`, its time over the fastest one's; `forwarding` describes what makes the copies.
    """

    name: str
    mpi: str
    forwarding: str
    first: Row
    changes: tuple[Row, ...]


@dataclass(frozen=True)
class Spared:
    """The processor time saved by forwarding adapters, for the method that gains most.

    `host_s` and `nic_s` are the mean processor time per node of a multicast.
    """

    name: str
    mpi: str
    group: int
    size_bytes: int
    host_s: float
    nic_s: float
    gain_ratio: float


@fact
def _machines(facts: Facts) -> Iterator[tuple[str, str, pl.DataFrame]]:
    """Title, library and points to the largest group, of each machine."""
    for _, machine in multicasts(facts).group_by(RUN_SUBJECT, maintain_order=True):
        mpi = machine["mpi"][0]
        whole = machine.filter(pl.col("group") == pl.col("group").max())
        yield library_label(facts, machine["transport"][0], mpi), mpi, whole


@fact
def fastest_multicasts(facts: Facts) -> Iterator[Fastest]:
    """By machine and forwarding, if the method matters."""
    for name, mpi, whole in _machines(facts):
        for forwarding, words in FORWARDINGS.items():
            best = _best_by_size(whole.filter(pl.col("forwarding") == forwarding))
            if best and best[0]["behind"] > FASTER:
                yield Fastest(name, mpi, words, best[0], (*best[1:],))


def _best_by_size(points: pl.DataFrame) -> list[Row]:
    """The fastest method and the sizes from which it is fastest, with as few changes as possible.

    Methods slower by no more than FASTER also count as fastest; of several, the one that stays
    so for most sizes wins, then the faster one.
    """
    by_size = [
        ways.sort("median_s").to_dicts()
        for _, ways in points.sort("bytes").group_by("bytes", maintain_order=True)
        if ways.height > 1
    ]
    stretches: list[Row] = []
    place = 0
    while place < len(by_size):
        ways = by_size[place]
        remaining = by_size[place:]
        chosen = min(_contenders(ways), key=lambda way: (-_stays(way, remaining), *_place(way)))
        behind = ways[-1]["median_s"] / chosen["median_s"]
        stretches.append({**chosen, "slowest": ways[-1]["method"], "behind": behind})
        place += _stays(chosen, remaining)
    return stretches


def _contenders(ways: list[Row]) -> list[Row]:
    """The methods of a size that tie with the fastest, which comes first."""
    return [way for way in ways if way["median_s"] <= ways[0]["median_s"] * FASTER]


def _stays(way: Row, by_size: list[list[Row]]) -> int:
    """For how many sizes a method is among the fastest."""
    names = [{contender["method"] for contender in _contenders(ways)} for ways in by_size]
    return sum(1 for _ in itertools.takewhile(lambda methods: way["method"] in methods, names))


def _place(way: Row) -> tuple[float, int]:
    """Order of methods at one size: by time, those that differ only by rounding by METHODS."""
    order = METHODS.index(way["method"]) if way["method"] in METHODS else len(METHODS)
    return float(f"{way['median_s']:.9g}"), order


@fact
def spared(facts: Facts) -> Iterator[Spared]:
    """By machine, if forwarding adapters save any processor time."""
    for name, mpi, whole in _machines(facts):
        wide = whole.filter(pl.col("bytes") == pl.col("bytes").min()).pivot(
            "forwarding", index=["method", "group", "bytes"], values="host_cpu_s"
        )
        if not {"host", "nic"} <= set(wide.columns):
            continue
        gains = wide.filter(pl.col("nic") > 0).with_columns(gain=pl.col("host") / pl.col("nic"))
        for row in gains.sort("gain", descending=True).head(1).to_dicts():
            if row["gain"] > FASTER:
                values = (row["host"], row["nic"], row["gain"])
                yield Spared(name, mpi, row["group"], row["bytes"], *values)
