"""Layers below and beside MPI: the time of the same message with and without a library."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import polars as pl

from nhalf.facts.contests import with_cores
from nhalf.facts.difference import FASTER
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import MAIN_PATTERN, library_label
from nhalf.statistics.intervals import Interval, launch_interval, ratio_interval
from nhalf.store.keys import RUN_POINT, without

OTHER_MACHINES = ("model", "simulated", "threads")
"""Transports without a library that no library builds on: other processes, or other machines."""
CLASSIC_PATTERNS = ("one-to-many", "many-to-one", "many-to-many", "bcast", "allreduce")
"""Shown besides the ping-pong, as in the classic comparisons of message layers."""
SETTING = without(RUN_POINT, "mpi", "transport")


@dataclass(frozen=True)
class LayerTime:
    """The time of one size on a library and on the fastest layer, seconds.

    `own` is the share of the library's time in excess of the layer, with its interval over
    launches.
    """

    size_bytes: int
    library_s: float
    layer: str
    layer_s: float
    own: Interval


@fact
def has_layers(facts: Facts) -> bool:
    """Whether anything was measured without a library."""
    return not facts.whole.filter(_is_layer()).is_empty()


@fact
def against_layers(facts: Facts) -> pl.DataFrame:
    """Per launch, every library and layer against the fastest layer of its point.

    Columns of a launch, `label`, `layer` (the fastest one), `layer_s` and `ratio` (its time over
    that of the fastest layer in the same round of launches). Only points that a layer has.
    """
    points = with_cores(facts.launches.filter(pl.col("median_s") > 0), facts)
    layers = points.filter(_is_layer())
    medians = layers.group_by(*SETTING, "transport").agg(pl.col("median_s").median())
    quickest = medians.sort("median_s", "transport").group_by(SETTING, maintain_order=True).first()
    chosen = layers.join(
        quickest.select(*SETTING, "transport"), on=[*SETTING, "transport"], nulls_equal=True
    ).select(*SETTING, "launch", layer="transport", layer_s="median_s")
    layered = points.filter((pl.col("mpi") != "") | _is_layer())
    joined = layered.join(chosen, on=[*SETTING, "launch"], nulls_equal=True)
    labels = [library_label(facts, *row) for row in joined.select("transport", "mpi").iter_rows()]
    ratio = pl.col("median_s") / pl.col("layer_s")
    return joined.with_columns(pl.Series("label", labels, dtype=pl.String), ratio=ratio)


@fact
def own_parts(facts: Facts) -> Iterator[tuple[dict[str, object], list[LayerTime]]]:
    """Every library, with the sizes of the main pattern at which it is significantly slower."""
    launches = against_layers(facts).filter(
        (pl.col("mpi") != "") & (pl.col("pattern") == MAIN_PATTERN) & (pl.col("axes") == "")
    )
    about = ["run", "label", "mpi", "ranks", "placement"]
    for key, frame in launches.group_by(about, maintain_order=True):
        parts = [
            part
            for (size,), points in frame.sort("launch").group_by("bytes", maintain_order=True)
            if (part := _part(int(str(size)), points)) is not None
        ]
        if parts:
            by_size = sorted(parts, key=lambda part: part.size_bytes)
            yield dict(zip(about, key, strict=True)), by_size


def _part(size_bytes: int, points: pl.DataFrame) -> LayerTime | None:
    """One size of one library; None if the layer may take as long."""
    if points.height < 2:
        return None
    share = ratio_interval((1 / points["ratio"]).to_list())
    if share.high > 1 / FASTER:
        return None
    return LayerTime(
        size_bytes,
        launch_interval(points["median_s"].to_numpy()).median,
        str(points["layer"][0]),
        launch_interval(points["layer_s"].to_numpy()).median,
        Interval(1 - share.median, 1 - share.high, 1 - share.low),
    )


def _is_layer() -> pl.Expr:
    return (pl.col("mpi") == "") & ~pl.col("transport").is_in(OTHER_MACHINES)
