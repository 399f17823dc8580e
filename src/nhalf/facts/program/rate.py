"""Messages and bytes that a program sends over time, and its phases.

The bins of all ranks and threads are added up; if there are more than BINS_MAX, adjacent ones are
merged. A phase is a sequence of bins with one rate: the series of log(1 + messages) is divided in
two so that the sum of squares is smallest, and again, as long as that saves more than noise would
(binary segmentation with a Bayesian information criterion; J. Chen, A. K. Gupta,
Parametric Statistical Change Point Analysis, 2nd ed., 2012, ch. 2).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator

import numpy as np
import polars as pl

from nhalf.base.arrays import Floats
from nhalf.base.rows import Row
from nhalf.facts.fact import fact
from nhalf.facts.program.program import Program

BINS_MAX = 512
PHASE_BINS_MIN = 3
PHASES_MAX = 12
NOISE_MIN = 0.1
"""Rates that differ by less than a tenth form one phase."""
DIFFERENT = 1.5


@fact
def rates_over_time(program: Program) -> pl.DataFrame:
    """All ranks together: columns `start_s`, `width_s`, `kind`, `messages`, `bytes`, `time_s`.

    Empty bins are included, from the first to the last of any kind.
    """
    bins = program.bins
    if bins.is_empty():
        return pl.DataFrame(
            schema={
                **{"start_s": pl.Float64, "width_s": pl.Float64, "kind": pl.String},
                **{"messages": pl.Int64, "bytes": pl.Int64, "time_s": pl.Float64},
            }
        )
    bin_s = float(bins["width_s"].max())  # type: ignore[arg-type]
    spans = float(bins["start_s"].max()) / bin_s  # type: ignore[arg-type]
    width_s = bin_s * 2 ** max(0, math.ceil(math.log2((spans + 1) / BINS_MAX)))
    place = ((pl.col("start_s") + 0.5 * pl.col("width_s")) / width_s).floor().cast(pl.Int64)
    sums = (
        bins.with_columns(place=place)
        .group_by("place", "kind")
        .agg(
            messages=pl.col("count").sum(),
            bytes=pl.col("bytes").sum(),
            time_s=pl.col("time_s").sum(),
        )
    )
    first, last = sums["place"].min(), sums["place"].max()
    places = pl.DataFrame({"place": range(int(first), int(last) + 1)})  # type: ignore[arg-type]
    bins_by_kind = places.join(sums.select("kind").unique(), how="cross")
    full = bins_by_kind.join(sums, on=["place", "kind"], how="left").fill_null(0)
    return full.select(
        start_s=pl.col("place") * width_s,
        width_s=pl.lit(width_s),
        kind="kind",
        messages="messages",
        bytes="bytes",
        time_s="time_s",
    ).sort("kind", "start_s")


@fact
def rate_phases(program: Program) -> list[Row]:
    """The phases of constant rate, in order.

    Counts messages sent and collective calls together. Each phase has `start_s`, `end_s`,
    `messages`, `bytes` and `messages_per_s`.
    """
    rates = rates_over_time(program)
    active = rates.filter(pl.col("kind").is_in(["sent", "collective"]))
    if active.is_empty():
        return []
    total = active.group_by("start_s").agg(pl.col("messages", "bytes").sum()).sort("start_s")
    width_s = float(rates["width_s"][0])
    level = np.log1p(total["messages"].to_numpy().astype(float))
    bounds = [0, *_changes(level), len(level)]
    rows = []
    for begin, end in itertools.pairwise(bounds):
        part = total[begin:end]
        seconds = (end - begin) * width_s
        rows.append(
            {
                "start_s": float(part["start_s"][0]),
                "end_s": float(part["start_s"][0]) + seconds,
                "messages": int(part["messages"].sum()),
                "bytes": int(part["bytes"].sum()),
                "messages_per_s": float(part["messages"].sum()) / seconds,
            }
        )
    return rows


def _changes(level: Floats) -> list[int]:
    """Where phases after the first begin; the clearest are found first."""
    boundaries: list[int] = []
    parts = [(0, len(level))]
    while parts and len(boundaries) < PHASES_MAX - 1:
        best = max(_splits(level, parts), default=None)
        if best is None:
            break
        _, at, part = best
        parts.remove(part)
        parts += [(part[0], at), (at, part[1])]
        boundaries.append(at)
    return sorted(boundaries)


def _splits(
    level: Floats, parts: list[tuple[int, int]]
) -> Iterator[tuple[float, int, tuple[int, int]]]:
    """The best worthwhile division of each part: its saving, its position, and the part."""
    for begin, end in parts:
        values = level[begin:end]
        number = len(values)
        if number < 2 * PHASE_BINS_MIN:
            continue
        before = np.arange(PHASE_BINS_MIN, number - PHASE_BINS_MIN + 1)
        sums = np.concatenate([[0.0], values.cumsum()])
        after = number - before
        mean_before, mean_after = sums[before] / before, (sums[-1] - sums[before]) / after
        gain = before * after / number * (mean_before - mean_after) ** 2
        at = int(gain.argmax())
        residual = max(float(((values - values.mean()) ** 2).sum() - gain[at]), 0.0)
        noise = max(residual / number, NOISE_MIN**2)
        differ = abs(mean_before[at] - mean_after[at]) >= np.log(DIFFERENT)
        if differ and gain[at] > 3 * noise * np.log(number):
            yield float(gain[at]), begin + int(before[at]), (begin, end)
