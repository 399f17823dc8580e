"""The effective bandwidth, with the columns used to compare machines.

R. Rabenseifner, A. Koniges: Effective Communication and File-I/O Bandwidth Benchmarks, Euro
PVM/MPI 2001, Springer LNCS 2131. For each of 6 ring patterns and 30 random ones, 21 lengths and 3
methods, the bandwidth is the bytes of all messages over the time of the slowest rank. Then, in this
order: maximum over repetitions, maximum over methods, arithmetic mean over lengths, geometric mean
over the patterns of a kind, geometric mean of both kinds. Here a repetition is a launch, and its
time is the median of its samples.

For each kind of pattern, method and length, the geometric mean over the measured patterns stands
for all of its kind. Then the maximum over methods is taken; missing lengths are interpolated
linearly between their neighbours (logarithms of both); the means follow as in `b_eff`. With all
points this is at most the result of `b_eff`, which takes the best method for each pattern.
"""

from collections.abc import Sequence

import numpy as np
import polars as pl

from nhalf.base.numbers import percent
from nhalf.base.rows import Row
from nhalf.base.units import format_rate, format_size, format_time
from nhalf.measure.plan.plan import b_eff_lengths
from nhalf.results import Column, Result
from nhalf.statistics.intervals import Floats, launch_interval, launch_intervals
from nhalf.store.keys import RUN_SUBJECT, axis

PATTERN = "ring"


class EffectiveBandwidth(Result):
    """One row per library, ranks and placement."""

    title = "b_eff"
    patterns = frozenset({PATTERN})
    parts = patterns
    columns = (
        Column("b_eff_Bps", "b_eff", format_rate),
        Column("b_eff_per_process_Bps", "per process", format_rate, with_interval=False),
        Column("longest_bytes", "L_max", format_size),
        Column("at_longest_Bps", "at L_max", format_rate),
        Column("rings_at_longest_Bps", "rings at L_max", format_rate, with_interval=False),
        Column("pingpong_bandwidth_Bps", "ping-pong", format_rate, with_interval=False),
        Column("pingpong_latency_s", "latency", format_time, with_interval=False),
    )

    def of(self, measurements: pl.LazyFrame, summary: pl.DataFrame) -> list[Row]:
        """One row per subject, with the members that `b_eff` gives."""
        return [row | pingpong(summary, row) for row in b_eff(measurements)]

    def line(self, row: Row) -> str:
        """The number, its value per process, and random orders as a share of rings."""
        if row["missing"]:
            return f"no {self.title}: {row['missing']}"
        whole, part = (column.cell(row) for column in self.columns[:2])
        share = percent(row["random_ratio"])
        figures = f"{whole}, {part} per process; random orders reach {share} of rings"
        if row.get("subset"):
            return f"{self.title} is about {figures}; an estimate, since {row['subset']}"
        return f"{self.title} {figures}"


RINGS, RANDOM = 6, 30
PATTERNS = RINGS + RANDOM
METHODS = ("sendrecv", "alltoallv", "nonblocking")
SHORT_LENGTHS = tuple(2**power for power in range(13))
"""Lengths up to 4096 bytes; the others grow by equal factors up to the longest."""
LONG_LENGTHS = 8
LENGTHS = len(SHORT_LENGTHS) + LONG_LENGTHS
LONGEST_BYTES_MIN = 8192
"""Up to this longest length there is no room for eight lengths above 4096 bytes."""

SEEDED = (*RUN_SUBJECT, "seed")
"""The subject of a value; `seed` is that of the random patterns, as text."""
WAY = ("ring", "method", "bytes")

IS_RING = pl.col("ring") <= RINGS


def rates(measurements: pl.LazyFrame) -> pl.DataFrame:
    """One row per subject, point and launch with `rate_Bps`, sorted; usable points only.

    Columns SEEDED, `ring` (1 to 36), `method`, `bytes`, `launch`, `rate_Bps`.
    """
    rate = pl.col("rate_Bps")
    return (
        measurements.filter(pl.col("pattern") == PATTERN, "verified")
        .select(
            *RUN_SUBJECT,
            axis("seed").fill_null("1"),
            axis("ring").cast(pl.Int32, strict=False),
            axis("method"),
            "bytes",
            "launch",
            rate_Bps=pl.col("bytes_per_time") / pl.col("samples_s").list.median(),
        )
        .filter(
            rate.is_finite(),
            rate > 0,
            pl.col("ring").is_between(1, PATTERNS),
            pl.col("method").is_in(METHODS),
        )
        .group_by(*SEEDED, *WAY, "launch")
        .agg(rate.median())
        .sort(*SEEDED, *WAY, "launch")
        .collect()
    )


def best(rows: pl.DataFrame, *by: str) -> pl.DataFrame:
    """The maximum over methods, and over launches unless `by` names them.

    One row per subject, `ring`, `bytes` and what `by` names.
    """
    return rows.group_by(*SEEDED, "ring", "bytes", *by).agg(pl.col("rate_Bps").max())


def curves(rows: pl.DataFrame) -> pl.DataFrame:
    """One row per subject, length and kind of pattern, sorted; `kind` is 'rings' or 'random'.

    `rate_Bps` is the geometric mean, over the patterns of a kind, of the rate of the best method
    and launch; `low_Bps` and `high_Bps` are its interval over launches, extended to contain it.
    """
    keys = [*SEEDED, "bytes", "kind"]
    kind = pl.when(IS_RING).then(pl.lit("rings")).otherwise(pl.lit("random")).alias("kind")
    mean = pl.col("rate_Bps").log().mean().exp()
    whole = best(rows).with_columns(kind).group_by(keys).agg(mean).sort(keys)
    launches = best(rows, "launch").with_columns(kind).group_by(*keys, "launch").agg(mean)
    wide = whole.select(keys).join(
        launches.pivot("launch", index=keys, values="rate_Bps"), on=keys, maintain_order="left"
    )
    _, low, high = launch_intervals(wide.drop(keys).to_numpy())
    return whole.with_columns(
        low_Bps=pl.min_horizontal("rate_Bps", pl.Series(low).fill_nan(None)),
        high_Bps=pl.max_horizontal("rate_Bps", pl.Series(high).fill_nan(None)),
        launches=pl.Series((~np.isnan(wide.drop(keys).to_numpy())).sum(axis=1)),
    )


def b_eff(measurements: pl.LazyFrame) -> list[Row]:
    """One row per subject; see docs/b_eff.md for its members.

    If points are missing, the numbers are estimates (`estimate`) and `subset` says from which
    points; if too many are missing, `missing` says so, and the row has no number.
    """
    rows = rates(measurements)
    subjects = rows.partition_by(SEEDED, maintain_order=True, as_dict=True)
    return [
        {**dict(zip(SEEDED, subject, strict=True)), **_row(int(str(subject[3])), points)}
        for subject, points in subjects.items()
    ]


def _row(ranks: int, points: pl.DataFrame) -> Row:
    """Compute the members of one subject's row from its points."""
    missing = _missing(ranks, points)
    if missing:
        figures = estimate(points, IS_RING, LONGEST_BYTES_MIN) if ranks > 1 else None
        if figures is None:
            return {"missing": missing}
        return {"missing": "", "subset": missing, "launches": 0, **figures} | _per_process(
            figures, ranks
        )
    longest_bytes = int(points["bytes"].max())  # type: ignore[arg-type]
    points = points.filter(pl.col("bytes").is_in(b_eff_lengths(longest_bytes)))
    launches = [
        _figures(launch, longest_bytes)
        for launch in points.partition_by("launch", maintain_order=True)
        if launch.height == PATTERNS * len(METHODS) * LENGTHS
    ]
    row: Row = {"missing": "", "launches": len(launches), "longest_bytes": longest_bytes}
    for name, value in _figures(points, longest_bytes).items():
        row[name] = value
        if len(launches) > 1:
            # A maximum over launches lies above most of them: the interval is extended to it.
            interval = launch_interval([launch[name] for launch in launches])
            row[f"{name}_ci"] = [min(interval.low, value), max(interval.high, value)]
    by_method = points.partition_by("method", as_dict=True)
    row["by_method_Bps"] = {
        method: _figures(by_method[method,], longest_bytes)["b_eff_Bps"] for method in METHODS
    }
    return row | _per_process(row, ranks)


def _figures(points: pl.DataFrame, longest_bytes: int) -> dict[str, float]:
    """The averages over all lengths and at the longest alone, for the available launches."""
    return _named(*_average(points), *_average(points.filter(pl.col("bytes") == longest_bytes)))


def _named(
    rings_Bps: float, random_Bps: float, rings_last_Bps: float, random_last_Bps: float
) -> dict[str, float]:
    """The figures from the averages of both kinds of pattern, and those at the longest length."""
    return {
        "b_eff_Bps": (rings_Bps * random_Bps) ** 0.5,
        "rings_Bps": rings_Bps,
        "random_Bps": random_Bps,
        "random_ratio": random_Bps / rings_Bps,
        "at_longest_Bps": (rings_last_Bps * random_last_Bps) ** 0.5,
        "rings_at_longest_Bps": rings_last_Bps,
    }


def _average(points: pl.DataFrame) -> tuple[float, float]:
    """Bytes per second of rings and of random orders: means over lengths, then over patterns."""
    patterns = best(points).group_by("ring").agg(pl.col("rate_Bps").mean()).sort("ring")
    rates_Bps = patterns["rate_Bps"].to_numpy()
    is_ring = patterns.select(IS_RING).to_series().to_numpy()
    rings, random = rates_Bps[is_ring], rates_Bps[~is_ring]
    return float(geometric_mean(rings)), float(geometric_mean(random))


def geometric_mean(rates_Bps: Sequence[Floats] | Floats) -> Floats:
    """The geometric mean over the first axis, which holds the patterns of a kind."""
    mean: Floats = np.exp(np.mean(np.log(rates_Bps), axis=0))
    return mean


def _per_process(row: Row, ranks: int) -> Row:
    return {
        name.replace("_Bps", "_per_process_Bps"): [end / ranks for end in value]
        if isinstance(value, list)
        else value / ranks
        for name, value in row.items()
        if name.endswith(("_Bps", "_Bps_ci")) and not isinstance(value, dict)
    }


def pingpong(summary: pl.DataFrame, row: Row) -> Row:
    """Figures of a run for a single pair: time of the smallest message, and highest rate.

    Members `pingpong_latency_s` and `pingpong_bandwidth_Bps` with their intervals; none if nothing
    was measured. Points with the same number of ranks are preferred.
    """
    same_library = [pl.col(name) == row[name] for name in ("run", "transport", "mpi")]
    beside = (pl.col("ranks") == row["ranks"]) & (pl.col("placement") == row["placement"])
    points = summary.filter(
        pl.col("pattern") == "pingpong", pl.col("median_s") > 0, *same_library
    ).with_columns(beside=beside)
    points = points.filter(pl.col("beside") == pl.col("beside").any())
    if points.is_empty():
        return {}
    first = points.sort("bytes").row(0, named=True)
    rate = pl.col("bytes_per_time") / pl.col("median_s")
    peak = points.sort(rate, descending=True).row(0, named=True)
    values: Row = {
        "pingpong_latency_s": first["median_s"],
        "pingpong_bandwidth_Bps": peak["bytes_per_time"] / peak["median_s"],
    }
    if first["launches"] > 1:
        values["pingpong_latency_s_ci"] = [first["ci_low_s"], first["ci_high_s"]]
    if peak["launches"] > 1:
        ends = (peak["ci_high_s"], peak["ci_low_s"])
        values["pingpong_bandwidth_Bps_ci"] = [peak["bytes_per_time"] / end for end in ends]
    return values


def _missing(ranks: int, points: pl.DataFrame) -> str:
    """Why the points of one subject do not yield b_eff, in words; '' if they do."""
    if ranks < 2:
        return "it needs 2 ranks or more"
    sizes = set(points["bytes"].to_list())
    long = sorted(size for size in sizes if size > SHORT_LENGTHS[-1])
    counts = {
        "lengths": (len(sizes & set(SHORT_LENGTHS)) + min(LONG_LENGTHS, len(long)), LENGTHS),
        "patterns": (points["ring"].n_unique(), PATTERNS),
        "methods": (points["method"].n_unique(), len(METHODS)),
    }
    parts = [
        f"{measured} of {defined} {name}"
        for name, (measured, defined) in counts.items()
        if measured < defined
    ]
    if parts:
        return f"only {', '.join(parts)} were measured"
    lengths = b_eff_lengths(long[-1]) if long[-1] > LONGEST_BYTES_MIN else ()
    if not lengths or not set(lengths) <= sizes:
        return f"the lengths up to {long[-1]} B are not those of its definition"
    defined = PATTERNS * len(METHODS) * LENGTHS
    measured = points.filter(pl.col("bytes").is_in(lengths)).select(WAY).n_unique()
    return f"only {measured} of {defined} points were measured" if measured < defined else ""


LENGTHS_MIN = 3
"""Both ends and one in between."""


def estimate(points: pl.DataFrame, is_ring: pl.Expr, longest_bytes_min: int) -> Row | None:
    """The figures of `b_eff`, without intervals; None if too little was measured.

    `points` has the columns ring, method, bytes and rate_Bps; `is_ring` distinguishes rings from
    random orders.
    """
    longest_bytes = int(points["bytes"].max())  # type: ignore[arg-type]
    lengths = b_eff_lengths(longest_bytes) if longest_bytes > longest_bytes_min else ()
    rings, random = (_curve(points.filter(kind), lengths) for kind in (is_ring, ~is_ring))
    if rings is None or random is None:
        return None
    means = float(rings.mean()), float(random.mean())
    return {"longest_bytes": longest_bytes, **_named(*means, float(rings[-1]), float(random[-1]))}


def _curve(points: pl.DataFrame, lengths: tuple[int, ...]) -> Floats | None:
    """Bytes per second of one kind at each length; None if the shortest or longest is missing."""
    best = points.group_by("ring", "method", "bytes").agg(pl.col("rate_Bps").max())
    means = best.group_by("method", "bytes").agg(pl.col("rate_Bps").log().mean())
    by_size = means.group_by("bytes").agg(pl.col("rate_Bps").max()).sort("bytes")
    sizes = by_size["bytes"].to_list()
    if len(sizes) < LENGTHS_MIN or not set(sizes) <= set(lengths):
        return None
    if sizes[0] != lengths[0] or sizes[-1] != lengths[-1]:
        return None
    logs = np.interp(np.log(lengths), np.log(sizes), by_size["rate_Bps"].to_numpy())
    rates_Bps: Floats = np.exp(logs)
    return rates_Bps
