"""What it costs to find a message among others, and to write to a rank for the first time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.difference import COSTLY, beyond
from nhalf.facts.extent import exact_runs
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.statistics.intervals import Interval
from nhalf.store.keys import VARIED_POINT, axis

QUEUES, FIRST_MESSAGES = "drain", "first-message"


@dataclass(frozen=True)
class CostOfOrder:
    """A way over its standard, at the value of an axis (`at`) where it was measured last.

    Of a queue `at` is its depth, of first messages the rank that they go to; `queue` is '' there.
    """

    series: str
    mpi: str
    queue: str
    at: int
    size_bytes: int
    standard_s: float
    time_s: float
    ratio: Interval

    @property
    def passed_s(self) -> float:
        """Seconds for each message, or receive, that is passed: in reverse order half of them."""
        return 2 * (self.time_s - self.standard_s) / max(1, self.at - 1)


@fact
def searched_queues(facts: Facts) -> Iterator[CostOfOrder]:
    """Queues, at their greatest depth, in which reverse order costs more than that of arrival."""
    yield from _costs(facts, QUEUES, ("order", "reverse", "in-order"), "depth")


@fact
def first_messages(facts: Facts) -> Iterator[CostOfOrder]:
    """Libraries whose first message to a rank costs more than the second, at the last rank."""
    yield from _costs(facts, FIRST_MESSAGES, ("message", "first", "second"), "partner")


def _costs(
    facts: Facts, pattern: str, ways: tuple[str, str, str], place: str
) -> Iterator[CostOfOrder]:
    """By series, queue and size, one way of an axis over another, where it costs significantly."""
    name, dear, standard = ways
    points = facts.launches.filter(pl.col("pattern") == pattern, pl.col("median_s") > 0)
    if points.is_empty():
        return
    points = with_series(points, facts).with_columns(
        axis(name), axis("queue").fill_null(""), at=axis(place).cast(pl.Int64)
    )
    keys = [*VARIED_POINT, "queue", "at", "launch"]
    standards = points.filter(pl.col(name) == standard).select(*keys, standard_s="median_s")
    paired = points.filter(pl.col(name) == dear).join(standards, on=keys, nulls_equal=True)
    groups = ["series", "mpi", "queue", "bytes", "run"]
    for (series, mpi, queue, size, run), frame in paired.group_by(groups, maintain_order=True):
        last = frame.filter(pl.col("at") == pl.col("at").max())
        ratios = (last["median_s"] / last["standard_s"]).to_list()
        ratio = beyond(ratios, COSTLY, is_exact=run in exact_runs(facts))
        if ratio is not None:
            at, standard_s, time_s = last.select(
                pl.col("at", "standard_s", "median_s").median()
            ).row(0)
            about = (str(series), str(mpi), str(queue), int(at), int(str(size)))
            yield CostOfOrder(*about, standard_s, time_s, ratio)
