"""Many ranks at once: traffic through the network, its worst order, and the rate of all pairs.

Operations of some ranks while the others load the network, against the same ones in quiet.
"""

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import polars as pl

from nhalf.base.rows import Row
from nhalf.facts.contests import with_cores
from nhalf.facts.difference import (
    COSTLY,
    RelativeCost,
    beyond,
    chosen_ratios,
    middles,
    over_standard,
)
from nhalf.facts.extent import exact_runs
from nhalf.facts.fact import fact
from nhalf.facts.facts import Facts
from nhalf.facts.series import with_series
from nhalf.facts.tails import JUDGED, tail_samples
from nhalf.results import b_eff
from nhalf.results.traffic import OVER_LOADS, curves, launches, per_sender
from nhalf.statistics.intervals import Interval, launch_interval, ratio_interval
from nhalf.statistics.tails import samples_needed
from nhalf.store.keys import RUN_CURVE, VARIED_POINT, axis, value, without


@fact
def offered_and_accepted(facts: Facts) -> pl.DataFrame:
    """One row per series, setting, rule and load, sorted; empty if no load was offered.

    Columns are those of `nhalf.results.traffic.curves`, `series`, and the rates per
    sending rank, so that rules with idle ranks are comparable: `offered_per_sender_Bps` and
    `accepted_per_sender_Bps`.
    """
    points = launches(facts.measurements)
    if points.is_empty():
        return points
    needed = ("offered_Bps", "accepted_Bps", "accepted_share", "senders")
    offered = curves(points).drop_nulls(needed).filter(pl.col("bytes") > 0)
    if offered.is_empty():
        return offered
    but_distance = [name for name in OVER_LOADS if name != "distance"]
    lowest = (
        offered.group_by(OVER_LOADS, maintain_order=True)
        .agg(rate=(pl.col("saturated_Bps") / pl.col("senders")).median())
        .sort("rate", maintain_order=True)
        .unique(but_distance, keep="first")
        .drop("rate")
    )
    per_sender = {
        f"{name}_per_sender_Bps": pl.col(f"{name}_Bps") / pl.col("senders")
        for name in ("offered", "accepted")
    }
    slowest_stages = (
        offered.with_columns(**per_sender)
        .join(lowest, on=OVER_LOADS, how="semi")
        .sort("bytes", *OVER_LOADS, "load_percent", maintain_order=True)
    )
    return with_series(slowest_stages.with_columns(algorithm=pl.lit(""), axes=pl.lit("")), facts)


RULE = ("to", "distance")


@dataclass(frozen=True)
class Rules:
    """The slowest and the fastest rule of a setting under full load.

    `setting` has the columns of a curve of traffic, `slow` and `fast` those of RULE; `ratio` is the
    ratio of each sender's throughput.
    """

    setting: Row
    slow: Row
    fast: Row
    ratio: Interval


@fact
def costly_rules(facts: Facts) -> list[Rules]:
    """One per library: the setting in which the rule matters most, if significant."""
    crowded = pl.col("advice").list.contains("oversubscribed")
    rates = per_sender(launches(facts.measurements.filter(~crowded)))
    settings = [name for name in OVER_LOADS if name not in RULE]
    worst_rules = [_worst(frame) for _, frame in rates.group_by(settings, maintain_order=True)]
    by_library: dict[str, Rules] = {}
    significant = (rules for rules in worst_rules if rules is not None)
    for rules in sorted(significant, key=lambda rules: -rules.ratio.median):
        by_library.setdefault(rules.setting["mpi"], rules)
    return list(by_library.values())


def _worst(rates: pl.DataFrame) -> Rules | None:
    """The worst rule in one setting, if significant."""
    middles = rates.group_by(RULE, maintain_order=True).agg(pl.col("per_sender_Bps").median())
    ordered = middles.drop_nulls().sort("per_sender_Bps", *RULE)
    if ordered.height < 2:
        return None
    slow, fast = ordered.row(0, named=True), ordered.row(-1, named=True)
    pairs = _of(rates, slow).join(_of(rates, fast), on="launch", suffix="_fast").sort("launch")
    ratios = (pairs["per_sender_Bps_fast"] / pairs["per_sender_Bps"]).to_list()
    interval = beyond(ratios, COSTLY)
    return None if interval is None else Rules(rates.row(0, named=True), slow, fast, interval)


def _of(rates: pl.DataFrame, rule: Row) -> pl.DataFrame:
    is_rule = [pl.col(name) == rule[name] for name in RULE]
    return rates.filter(*is_rule).select("launch", "per_sender_Bps")


@fact
def b_eff_curves(facts: Facts) -> pl.DataFrame:
    """One row per series, length and kind of pattern ('rings' or 'random'), sorted.

    Columns are those of `nhalf.results.b_eff.curves`, in bytes per second, and `series`.
    """
    points = b_eff.curves(b_eff.rates(facts.measurements))
    return with_series(points.with_columns(algorithm=pl.lit("native"), axes=pl.lit("")), facts)


FANS = ("one-to-many", "many-to-one", "many-to-many")
DENSE = ("dense-alltoall", "dense-pairwise", "dense-cumulative", "dense-random")
PHASE = r"^phase=\d+$"


@fact
def fans(facts: Facts) -> pl.DataFrame:
    """One row per point of FANS: columns of `Facts.sound`, `series`, `per_message_s`, `root_s`.

    `per_message_s` is the time of a round over the messages that one rank sends or receives in it;
    `root_s` is that of rank 0 alone, until its last message is sent or received, null if it was
    not measured (as with older probes).
    """
    points = facts.sound.filter(
        pl.col("pattern").is_in(FANS), pl.col("axes") == "", pl.col("ranks") > 1
    )
    per_message_s = pl.col("median_s") / (pl.col("ranks") - 1)
    return with_series(points.with_columns(value("root_s"), per_message_s=per_message_s), facts)


@fact
def phases(facts: Facts) -> pl.DataFrame:
    """One row per point of DENSE that moves data: `Facts.sound`, `series` and the integer `phase`.

    `active` is the number of ranks that send in it, while others may wait; `each_Bps` is the
    sending rate of each.
    """
    phase = axis("phase").cast(pl.Int64, strict=False).alias("phase")
    points = facts.sound.with_columns(phase).filter(
        pl.col("pattern").is_in(DENSE),
        pl.col("axes").str.contains(PHASE),
        pl.col("bytes") > 0,
        pl.col("bytes_per_time") > 0,
    )
    active = pl.col("bytes_per_time") // pl.col("bytes")
    each_Bps = pl.col("bytes") / pl.col("median_s")
    return with_series(points.with_columns(active=active, each_Bps=each_Bps), facts)


PHASES_MIN = 3
COMPARED = tuple(pattern for pattern in DENSE if pattern != "dense-random")
"""Patterns whose phase numbers have a meaning; randomly drawn ones do not."""
SETTING = without(RUN_CURVE, "axes")


@dataclass(frozen=True)
class SlowestPhase(RelativeCost):
    """Two phases of one pattern at its largest messages: the time in `slow` over that in `fast`.

    Every participating process sends one message in each, so times are compared; `slow_Bps` and
    `fast_Bps` are the rates of one process.
    """

    ranks: int
    slow: int
    fast: int
    slow_Bps: float
    fast_Bps: float


@fact
def _phase_launches(facts: Facts) -> pl.DataFrame:
    """The launches of phases that move data."""
    return facts.launches.filter(
        pl.col("pattern").is_in(DENSE),
        pl.col("axes").str.contains(PHASE),
        pl.col("bytes") > 0,
        pl.col("median_s") > 0,
    )


@fact
def slowest_phases(facts: Facts) -> Iterator[SlowestPhase]:
    """At most one for each library, setting and pattern."""
    points = _phase_launches(facts).filter(pl.col("pattern").is_in(COMPARED))
    largest = points.filter(pl.col("bytes") == pl.col("bytes").max().over(SETTING))
    for _, frame in largest.group_by(SETTING, maintain_order=True):
        if frame["axes"].n_unique() >= PHASES_MIN:
            ratios = chosen_ratios(frame, "axes", _ends)
            ratio = beyond(ratios, COSTLY, is_exact=frame["run"][0] in exact_runs(facts))
            if ratio is not None:
                yield _phase(frame, ratio, facts)


def _ends(times_s: Mapping[str, float]) -> tuple[str, str]:
    """The axes of the slowest and of the fastest phase, from their times."""
    phases_by_time = list(times_s)
    return phases_by_time[-1], phases_by_time[0]


def _phase(frame: pl.DataFrame, ratio: Interval, facts: Facts) -> SlowestPhase:
    slow, fast = (frame.filter(axes=axes) for axes in _ends(middles(frame, "axes")))
    first = with_series(slow.head(1), facts).with_columns(axis("phase")).row(0, named=True)
    size = int(first["bytes"])
    about = (first["series"], first["mpi"], first["pattern"], size, ratio, first["ranks"])
    phases = (int(first["phase"]), int(fast.select(axis("phase")).item(0, 0)))
    slow_s, fast_s = (times.select(pl.col("median_s").median()).item() for times in (slow, fast))
    return SlowestPhase(*about, *phases, size / slow_s, size / fast_s)


@dataclass(frozen=True)
class Peak(RelativeCost):
    """The size at which each process sends fastest, over all phases, and the largest size.

    `peak_Bps` and `largest_Bps` are rates of one process; `ratio` is the first over the second.
    """

    ranks: int
    peak_Bps: Interval
    largest_bytes: int
    largest_Bps: Interval


@fact
def peaks_below_largest(facts: Facts) -> Iterator[Peak]:
    """At most one for each library, setting and pattern, where the peak is certainly higher."""
    by = [*SETTING, "bytes", "launch"]
    phases = with_cores(_phase_launches(facts), facts).group_by(by, maintain_order=True)
    # The mean over phases of the time in which each process sends a byte.
    byte_s = pl.col("median_s").mean() / pl.col("bytes").first()
    sizes = phases.agg(median_s=byte_s, phases=pl.len(), axes=pl.lit(""))
    # A launch that lacks a phase does not count.
    whole = sizes.filter(pl.col("phases") == pl.col("phases").max().over(SETTING))
    for _, frame in whole.group_by(SETTING, maintain_order=True):
        largest = frame["bytes"].max()

        def ends(byte_s_by_size: Mapping[int, float], largest: object = largest) -> tuple[int, int]:
            return int(str(largest)), next(iter(byte_s_by_size))

        exact = frame["run"][0] in exact_runs(facts)
        ratio = beyond(chosen_ratios(frame, "bytes", ends), COSTLY, is_exact=exact)
        if ratio is not None:
            yield _peak(frame, ratio, facts)


def _peak(frame: pl.DataFrame, ratio: Interval, facts: Facts) -> Peak:
    fastest, largest = next(iter(middles(frame, "bytes"))), frame["bytes"].max()
    subject = with_series(frame.head(1), facts).row(0, named=True)
    about = (subject["series"], subject["mpi"], subject["pattern"], fastest, ratio)
    peak_Bps, largest_Bps = (_rate(frame.filter(bytes=size)) for size in (fastest, largest))
    return Peak(*about, subject["ranks"], peak_Bps, int(str(largest)), largest_Bps)


def _rate(frame: pl.DataFrame) -> Interval:
    byte_s = launch_interval(frame["median_s"].to_numpy())
    return Interval(1 / byte_s.median, 1 / byte_s.high, 1 / byte_s.low)


VICTIM = "victim"
FALLBACKS = {"of": "allreduce", "load": "none", "load_bytes": "4096", "nodes": "shared"}
"""The values of axes that are omitted (patterns/traffic/victim.hpp)."""
QUIET = (*VARIED_POINT, "launch", "of", "victims", "nodes")
"""What a quiet operation has in common with one under load."""
_TIMES = ("standard_s", "quiet_tail_s", "median_s", "tail_s")


@dataclass(frozen=True)
class CongestedOperation(RelativeCost):
    """An operation `of` victims beside a `load`: the ratio of its times to those in quiet.

    `tail_ratio` is that of the slowest 1 % of operations, None with too few samples. `quiet_s` and
    `loaded_s` are the times in either state, of all operations and of the slowest 1 %, medians over
    launches.
    """

    of: str
    load: str
    load_bytes: int
    ranks: int
    victims: int
    tail_ratio: Interval | None
    quiet_s: tuple[float, float]
    loaded_s: tuple[float, float]


@fact
def congested(facts: Facts) -> list[CongestedOperation]:
    """Every operation that was measured in both states in the same launches, in order.

    Of measured times two launches are needed, of exact ones one is enough.
    """
    launches = _launches(facts)
    # In quiet it does not matter which size the others would have sent.
    quiet = launches.filter(load="none").unique(QUIET, keep="first", maintain_order=True)
    loaded = over_standard(launches.filter(pl.col("load") != "none"), quiet, QUIET)
    in_quiet = quiet.select(*QUIET, quiet_tail_s="tail_s")
    tails = loaded.join(in_quiet, on=QUIET, nulls_equal=True).with_columns(
        tail_ratio=pl.col("tail_s") / pl.col("quiet_tail_s")
    )
    return list(_operations(tails, facts))


def _operations(loaded: pl.DataFrame, facts: Facts) -> Iterator[CongestedOperation]:
    points = [*QUIET, "load", "load_bytes"]
    points.remove("launch")
    for _, frame in with_series(loaded, facts).group_by(points, maintain_order=True):
        row = frame.row(0, named=True)
        if frame.height < 2 and row["run"] not in exact_runs(facts):
            continue
        tails = frame.filter(pl.col("tail_ratio").is_not_null())["tail_ratio"].to_list()
        medians_s = frame.select(pl.col(*_TIMES).median().fill_null(math.nan)).row(0)
        yield CongestedOperation(
            row["series"],
            row["mpi"],
            VICTIM,
            row["bytes"],
            ratio_interval(frame["ratio"].to_list()),
            of=row["of"],
            load=row["load"],
            load_bytes=int(row["load_bytes"]),
            ranks=row["ranks"],
            victims=int(row["victims"]),
            tail_ratio=ratio_interval(tails) if tails else None,
            quiet_s=medians_s[:2],
            loaded_s=medians_s[2:],
        )


@fact
def _launches(facts: Facts) -> pl.DataFrame:
    """A row per launch of a point: its axes, `median_s`, and `tail_s`, null of too few samples."""
    points = facts.launches.filter(
        pl.col("pattern") == VICTIM, pl.col("median_s") > 0
    ).with_columns(
        axis("victims"), *(axis(name).fill_null(value) for name, value in FALLBACKS.items())
    )
    launch = [*VARIED_POINT, "axes", "launch"]
    tails = (
        tail_samples(facts)
        .filter(pl.col("pattern") == VICTIM)
        .group_by(launch)
        .agg(pl.col("samples_s").explode())
        .filter(pl.col("samples_s").list.len() >= samples_needed(JUDGED))
        .select(
            *launch, tail_s=pl.col("samples_s").list.eval(pl.element().quantile(JUDGED)).list[0]
        )
    )
    return points.join(tails, on=launch, how="left", nulls_equal=True)
