"""Every pattern of a run over sizes and ranks: fitted, judged and ready for a machine file."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec
import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.base.carrier import carrier
from nhalf.base.operations import COLLECTIVES
from nhalf.facts.fit import carried_out, valid
from nhalf.machines.layout import parse_layout
from nhalf.machines.leftover import Leftover, leftover_of_correction, leftover_of_surface
from nhalf.machines.machine import PatternModel
from nhalf.models.heldout import Heldout, fit_judged
from nhalf.models.pattern import RANKS_MIN, Pattern, SizeRegion
from nhalf.models.term_choice import Cells, Chosen
from nhalf.store.keys import PATTERN, axis

ANY = "any"
QUEUE_PATTERN = "drain"
"""Messages in a queue (native/patterns/traffic/drain.hpp)."""
_DEVIATIONS_PER_INTERVAL = 2 * 1.96


@dataclass(frozen=True)
class Unmodelled:
    """A pattern with too few numbers of ranks."""

    pattern: str
    mpi: str
    ranks: tuple[int, ...]

    @property
    def reason(self) -> str:
        """Why there is no model."""
        return f"measured at {len(self.ranks)} numbers of ranks, {RANKS_MIN} are needed"


def fit_patterns(summary: pl.DataFrame) -> list[PatternModel]:
    """A model for every size region of every pattern with four or more numbers of ranks.

    Of messages in a queue, which are measured by its depth, for four or more depths.
    `summary` has SUMMARY_COLUMNS. Points that failed verification or have no positive time are
    left out.
    """
    by_ranks = [
        model
        for key, points in each_pattern(summary)
        for placement, part in by_placement(points)
        for model in _models(key, placement, part)
    ]
    by_depth = [
        msgspec.structs.replace(model, counts="depth")
        for key, placement, points in each_queue(summary)
        for model in _models(key, placement, points)
    ]
    return [*by_ranks, *by_depth]


def not_modelled(summary: pl.DataFrame, models: Sequence[PatternModel]) -> list[Unmodelled]:
    """The patterns of a run that no model covers, with their numbers of ranks."""
    modelled = {(model.pattern, carrier(model.mpi, model.transport)) for model in models}
    ranks: dict[tuple[str, str], set[int]] = {}
    for key, points in each_pattern(summary):
        name = key["pattern"], carrier(key["mpi"], key["transport"])
        if name not in modelled:
            ranks.setdefault(name, set()).update(points["ranks"].to_list())
    return [Unmodelled(*name, tuple(sorted(rank_counts))) for name, rank_counts in ranks.items()]


def each_pattern(summary: pl.DataFrame) -> Iterator[tuple[dict[str, Any], pl.DataFrame]]:
    """The valid points of every pattern, with its key."""
    for values, points in (
        carried_out(valid(summary).filter(pl.col("pattern") != QUEUE_PATTERN))
        .sort([*PATTERN, "ranks", "bytes"])
        .group_by(PATTERN, maintain_order=True)
    ):
        yield {name: v or "" for name, v in zip(PATTERN, values, strict=True)}, points


def each_queue(summary: pl.DataFrame) -> Iterator[tuple[dict[str, Any], str, pl.DataFrame]]:
    """The valid points of messages in a queue by depth, which takes the place of the ranks.

    With their key, whose axes then name the ranks, and their placement.
    """
    without_depth = pl.col("axes").str.replace(r"(^|,)depth=\d+", "").str.strip_prefix(",")
    ranks = axis("depth").cast(pl.Int64)
    queued = (
        valid(summary)
        .filter(pl.col("pattern") == QUEUE_PATTERN)
        .with_columns(ranks=ranks, axes=pl.format("{},ranks={}", without_depth, pl.col("ranks")))
    )
    keys = [*PATTERN, "placement"]
    for values, points in queued.sort([*keys, "ranks", "bytes"]).group_by(
        keys, maintain_order=True
    ):
        if points["ranks"].n_unique() >= RANKS_MIN:
            *key, placement = (value or "" for value in values)
            yield dict(zip(PATTERN, key, strict=True)), placement, points


def by_placement(points: pl.DataFrame) -> Iterator[tuple[str, pl.DataFrame]]:
    """The points of a pattern by kind of placement, each with enough numbers of ranks.

    Layouts are of one kind with equal numbers of ranks per node ('any x 2'), or all on one node
    ('1 x any'). If no kind has enough, and every number of ranks has only one placement, these
    form one kind.
    """
    has_kind = False
    kinds: dict[str, list[str]] = {}
    for placement in points["placement"].unique().sort().to_list():
        for kind in _kinds(placement or ""):
            kinds.setdefault(kind, []).append(placement)
    for kind, members in sorted(kinds.items()):
        part = points.filter(pl.col("placement").is_in(members))
        if part["ranks"].n_unique() >= RANKS_MIN:
            has_kind = True
            yield kind, part
    alone = points.group_by("ranks").agg(pl.col("placement").n_unique())["placement"].max() == 1
    if not has_kind and alone and points["ranks"].n_unique() >= RANKS_MIN:
        yield "", points


def _kinds(placement: str) -> list[str]:
    layout = parse_layout(placement)
    if layout is None or layout.missing:
        return [placement]
    end = ":cyclic" if layout.cyclic else ""
    kinds = [f"{ANY} x {layout.per_host}{end}"]
    return [*kinds, f"1 x {ANY}{end}"] if layout.hosts == 1 else kinds


def _models(key: dict[str, Any], placement: str, points: pl.DataFrame) -> list[PatternModel]:
    model, errors, by_ranks = fit_judged(cells_of(points))
    return [
        PatternModel(
            **key,
            placement=placement,
            from_bytes=int(region.from_bytes),
            to_bytes=int(region.to_bytes),
            from_ranks=model.from_ranks,
            to_ranks=model.to_ranks,
            startup_s=region.chosen.startup_s,
            per_byte_s=region.chosen.per_byte_s,
            **_intervals(region.chosen),
            **_judged(errors, by_ranks),
            timing="completion" if key["pattern"] in COLLECTIVES else "",
            leftover=_leftover(model, region),
        )
        for region in model.regions
    ]


def _leftover(model: Pattern, region: SizeRegion) -> Leftover | None:
    """A correction for the residuals of a region's sums, or a surface that replaces them."""
    if model.smooth is not None:
        return leftover_of_surface(model.smooth)
    return None if region.correction is None else leftover_of_correction(region.correction)


def cells_of(points: pl.DataFrame) -> Cells:
    """One cell per size and number of ranks."""
    time = points["median_s"].to_numpy().astype(np.float64)
    low, high = (
        points[name].fill_null(float("nan")).to_numpy() for name in ("ci_low_s", "ci_high_s")
    )
    noise: Floats = (high - low) / (_DEVIATIONS_PER_INTERVAL * time)
    size_bytes = points["bytes"].to_numpy().astype(np.float64)
    ranks = points["ranks"].to_numpy().astype(np.int64)
    return Cells(size_bytes, ranks, time, np.where(np.isfinite(noise), np.maximum(noise, 0.0), 0.0))


def _intervals(chosen: Chosen) -> dict[str, Any]:
    """Student's 95 % intervals, from standard errors."""
    from scipy.special import stdtrit

    reach = float(stdtrit(chosen.degrees, 0.975))
    sums = {
        "startup_ci": (chosen.startup_s, chosen.spread_startup_s),
        "per_byte_ci": (chosen.per_byte_s, chosen.spread_per_byte_s),
    }
    return {
        name: {
            term: (value - reach * spread[term], value + reach * spread[term])
            for term, value in values.items()
        }
        for name, (values, spread) in sums.items()
    }


def _judged(errors: Heldout | None, by_ranks: Heldout | None) -> dict[str, Any]:
    members: dict[str, Any] = {}
    if errors is not None:
        members |= {
            "heldout_median": errors.median,
            "heldout_p95": errors.p95,
            "heldout_cells": errors.count,
        }
    if by_ranks is not None:
        members |= {"heldout_ranks_median": by_ranks.median, "heldout_ranks_p95": by_ranks.p95}
    return members
