"""How much was measured, where and when; runs of single nodes and of messages."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

import polars as pl

from nhalf.base.dates import date_of
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.measure.plan.plan import split_name
from nhalf.node.reading import TRANSPORT
from nhalf.statistics.summary import EXACT, VIRTUAL, is_exact


@dataclass(frozen=True)
class Extent:
    """The extent of one run, or of several together.

    `hosts` are names, sorted; `started` is when the first point was measured, in local time;
    `is_node` says that no message was sent, because only nodes were measured, `is_application` that
    only applications were: then `libraries` are those that carry messages, whatever their settings,
    and `programs` count programming models; `is_virtual` that all times are of a network that is
    not there; `launches` are the fewest and the most of a point; `half_width_share` is the median
    over points with messages of the half-width over launches, relative to the time, None if no
    point has several launches.
    """

    hosts: tuple[str, ...]
    started: datetime | None
    is_simulated: bool
    is_node: bool
    is_application: bool
    libraries: int
    programs: int
    patterns: int
    points: int
    samples: int
    launches: tuple[int, int]
    half_width_share: float | None
    is_virtual: bool = False


@fact
def extent(facts: Facts) -> Extent:
    """The extent of the measurements."""
    summary = facts.summary
    first_s = facts.measurements.select(pl.col("started_s").min()).collect().item()
    fewest, most = summary["launches"].min() or 0, summary["launches"].max() or 0
    programs = set().union(*(run.get("programs", {}) for run in facts.environments.values()))
    is_application = not summary.is_empty() and set(summary["transport"]) <= programs
    # Of applications libraries count whatever their settings; else each setting, and transports.
    libraries = (
        {split_name(mpi)[0] for mpi in summary["mpi"] if mpi}
        if is_application
        else {mpi or transport for mpi, transport in summary.select("mpi", "transport").rows()}
    )
    return Extent(
        hosts=tuple(sorted(set().union(*map(_hosts, facts.environments.values())))),
        started=None if first_s is None else date_of(first_s),
        is_simulated=summary["transport"].is_in(EXACT).all(),
        is_node=set(summary["run"]) == node_runs(facts),
        is_application=is_application,
        libraries=len(libraries),
        programs=summary["transport"].n_unique() if is_application else 0,
        patterns=summary["pattern"].n_unique(),
        points=summary.height,
        samples=int(summary["samples"].sum()),
        launches=(int(fewest), int(most)),  # type: ignore[arg-type]
        half_width_share=_half_width(of_messages(facts)),
        is_virtual=not summary.is_empty() and summary["advice"].list.contains(VIRTUAL).all(),
    )


@fact
def exact_runs(facts: Facts) -> frozenset[str]:
    """The runs in which every launch takes the same time."""
    return frozenset(facts.summary.filter(is_exact())["run"].unique())


def _hosts(environment: Mapping[str, Any]) -> list[str]:
    """The hosts on which a run measured; if it names none, the one where it was started."""
    named_hosts = environment.get("site", {}).get("hosts", [])
    own_host = [str(environment["host"])] if environment.get("host") else []
    return [str(name).partition(":")[0] for name in named_hosts] or own_host


def half_width() -> pl.Expr:
    """The larger side of a point's interval, relative to its time."""
    median = pl.col("median_s")
    return pl.max_horizontal(pl.col("ci_high_s") - median, median - pl.col("ci_low_s")) / median


def _half_width(points: pl.DataFrame) -> float | None:
    widths = points.filter(pl.col("launches") > 1).select(half=half_width())["half"]
    widths = widths.filter(widths.is_finite())
    return None if widths.is_empty() else float(widths.median())  # type: ignore[arg-type]


@fact
def node_runs(facts: Facts) -> frozenset[str]:
    """The runs of `nhalf node`."""
    return frozenset(facts.summary.filter(transport=TRANSPORT)["run"].unique())


@fact
def of_messages(facts: Facts) -> pl.DataFrame:
    """The summary without the points of such runs.

    They refine by themselves and have no launches to add: their uncertainty is reported for levels
    and units, not for points.
    """
    return facts.summary.filter(~pl.col("run").is_in(list(node_runs(facts))))
