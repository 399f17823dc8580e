# SPDX-License-Identifier: Apache-2.0
"""What the measurements say, in plain words: each finding with its number and its interval.

Libraries are compared by the ratio of their times in the same launch round, since a neighbour or a
clock that changes speed then disturbs both. A finding is made only where the whole interval lies
beyond a stated threshold, and a remedy is named only where it was measured or where the doubt
itself says what would remove it.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import polars as pl

from nhalf.decide.fit import CURVE_COLUMNS
from nhalf.errors import InputError
from nhalf.machines.machine import FittedModel, Segment
from nhalf.panels import ReportData
from nhalf.panels import _common as common
from nhalf.panels.interval_width import missed, target_of
from nhalf.panels.modes import mode_name, mode_ratios
from nhalf.statistics.advice import advice
from nhalf.statistics.intervals import Interval, launch_interval, ratio_interval
from nhalf.units import format_size, format_time

FASTER = 1.03
"""Libraries count as different when the interval of their ratio lies beyond this."""

COSTLY = 1.10
"""A switch or a send mode is worth a finding when the interval of its cost lies beyond this."""

CLASSES = (("small", 0, 2**10), ("medium", 2**10 + 1, 2**16), ("large", 2**16 + 1, 2**62))
"""Size classes of the findings: name, first and last size in bytes."""

SIZES_BESIDE = 3
"""Sizes on each side of a switch that say where a launch lies there."""

SETTING = ["run", "transport", "algorithm", "ranks", "placement", "axes"]


@dataclass(frozen=True)
class Finding:
    """One sentence for a person, and its number for a program.

    `value` with `low` and `high` is what `text` states (a ratio of times, a share or a count; NaN
    ends where there is no interval); `remedy` is empty where none was measured. Findings of higher
    `importance` come first: 100 invalidates results, 40 to 90 are facts about the libraries, below
    40 are doubts about the measurement.
    """

    text: str
    importance: float
    kind: str
    remedy: str = ""
    value: float = math.nan
    low: float = math.nan
    high: float = math.nan
    mpi: str = ""
    pattern: str = common.MAIN_PATTERN
    size_bytes: int | None = None


def findings(data: ReportData) -> list[Finding]:
    """Everything worth saying about the data, the most important first."""
    found: list[Finding] = []
    for find in (_wrong_data, _smallest, _fastest, _switches, _modes, _doubted, _unsure):
        found += find(data)
    return sorted(found, key=lambda finding: -finding.importance)


def as_json(finding: Finding) -> dict[str, Any]:
    """A finding as an object for --json: null where there is no number."""
    return {
        name: None if isinstance(value, float) and not math.isfinite(value) else value
        for name, value in vars(finding).items()
    }


def times(value: float) -> str:
    """A ratio as people say it: '12x', '6.9x', '1.08x'."""
    places = 0 if value >= 10 else 1 if value >= 1.995 else 2
    return f"{value:.{places}f}x"


def between(interval: Interval) -> str:
    """'interval 6.5 to 7.2' for a ratio."""
    return f"interval {_ends(interval)}"


def _ends(interval: Interval) -> str:
    low, high = times(interval.low), times(interval.high)
    if low == high:
        return f"{interval.low:.3g} to {interval.high:.3g}"
    return f"{low} to {high}".replace("x", "")


def _wrong_data(data: ReportData) -> Iterator[Finding]:
    wrong = common.with_series(data.summary.filter(~pl.col("verified")), data)
    if wrong.is_empty():
        return
    names = ", ".join(sorted(wrong["series"].unique()))
    yield Finding(
        f"Data arrived wrong in {_count(wrong.height, 'point')} ({names}): "
        "their times mean nothing.",
        importance=100,
        kind="wrong-data",
        value=wrong.height,
    )


@dataclass(frozen=True)
class _Contest:
    """Launch medians of several libraries in one setting: same sizes, same launch numbers."""

    frame: pl.DataFrame
    """Columns mpi, launch, bytes, median_s."""
    titles: dict[str, str]
    setting: dict[str, Any]

    def ratios(self, slow: str, fast: str, sizes: Sequence[int]) -> list[float]:
        """Per launch, the middle over sizes of slow's time over fast's.

        The middle, not the mean: one hiccup at one size is not what a library typically needs.
        """
        chosen = self.frame.filter(pl.col("bytes").is_in(list(sizes)))
        first = chosen.filter(pl.col("mpi") == slow)
        second = chosen.filter(pl.col("mpi") == fast).select("launch", "bytes", other_s="median_s")
        pairs = first.join(second, on=["launch", "bytes"])
        middles = pairs.group_by("launch").agg(
            (pl.col("median_s") / pl.col("other_s")).median().alias("ratio")
        )
        return middles.sort("launch")["ratio"].to_list()

    def sizes(self, low: int = 0, high: int = 2**62) -> list[int]:
        """The sizes that every library measured."""
        count = self.frame["mpi"].n_unique()
        common_sizes = (
            self.frame.filter(pl.col("bytes").is_between(low, high))
            .group_by("bytes")
            .agg(pl.col("mpi").n_unique().alias("libraries"))
            .filter(pl.col("libraries") == count)
        )
        return sorted(common_sizes["bytes"].to_list())

    def ranking(self, sizes: Sequence[int]) -> list[str]:
        """Libraries from fast to slow: by the middle over sizes of time relative to the fastest."""
        middles = (
            self.frame.filter(pl.col("bytes").is_in(list(sizes)))
            .group_by("mpi", "bytes")
            .agg(pl.col("median_s").median())
            .with_columns(behind=pl.col("median_s") / pl.col("median_s").min().over("bytes"))
            .group_by("mpi")
            .agg(pl.col("behind").median())
        )
        return middles.sort("behind", "mpi")["mpi"].to_list()

    def time_s(self, mpi: str, size: int) -> float:
        """What is reported of one library at one size."""
        return _time_s(self.frame.filter(pl.col("mpi") == mpi), size)


def _contests(data: ReportData) -> Iterator[_Contest]:
    """Each setting of the main pattern in which several libraries were measured."""
    points = data.launches.filter(
        (pl.col("pattern") == common.MAIN_PATTERN) & (pl.col("median_s") > 0)
    )
    for setting, frame in points.group_by(SETTING, maintain_order=True):
        libraries = frame["mpi"].unique().sort().to_list()
        if len(libraries) < 2:
            continue
        named = dict(zip(SETTING, setting, strict=True))
        where = _where(data, named)
        titles = {name: data.titles.get(name, name) + where for name in libraries}
        yield _Contest(frame.select("mpi", "launch", "bytes", "median_s"), titles, named)


def _where(data: ReportData, setting: dict[str, Any]) -> str:
    """What must be added to a library's name to know which of several settings is meant."""
    parts = [
        f"{setting[name]} ranks" if name == "ranks" else str(setting[name])
        for name in ("ranks", "placement", "axes", "run")
        if data.summary[name].n_unique() > 1
    ]
    return f" [{', '.join(parts)}]" if parts else ""


def _beyond(ratios: Sequence[float], threshold: float) -> Interval | None:
    """The interval of ratios, where several launches put all of it above the threshold."""
    if len(ratios) < 2:
        return None
    interval = ratio_interval(ratios)
    return interval if interval.low > threshold else None


def _weight(ratio: float, base: float, most: float) -> float:
    """Importance that grows with the logarithm of a ratio: a factor of 8 reaches the most."""
    return base + (most - base) * min(1.0, abs(math.log(ratio)) / math.log(8))


def _smallest(data: ReportData) -> Iterator[Finding]:
    """The fastest against the slowest library at the smallest size of all."""
    for contest in _contests(data):
        sizes = contest.sizes()[:1]
        if not sizes:
            continue
        ranking = contest.ranking(sizes)
        fast, slow = ranking[0], ranking[-1]
        interval = _beyond(contest.ratios(slow, fast, sizes), FASTER)
        if interval is None:
            continue
        yield Finding(
            f"{contest.titles[slow]} needs {format_time(contest.time_s(slow, sizes[0]))} for the "
            f"smallest message ({format_size(sizes[0])}) where {contest.titles[fast]} needs "
            f"{format_time(contest.time_s(fast, sizes[0]))}: {times(interval.median)}, "
            f"{between(interval)}.",
            importance=_weight(interval.median, 70, 90),
            kind="smallest-message",
            remedy="Programs that send many small messages run faster on "
            f"{contest.titles[fast]} here.",
            value=interval.median,
            low=interval.low,
            high=interval.high,
            mpi=slow,
            size_bytes=sizes[0],
        )


def _fastest(data: ReportData) -> Iterator[Finding]:
    """Which library is fastest for small, medium and large messages."""
    for contest in _contests(data):
        for name, low, high in CLASSES:
            sizes = contest.sizes(low, high)
            if sizes:
                yield from _fastest_of(contest, name, sizes)


def _fastest_of(contest: _Contest, name: str, sizes: list[int]) -> Iterator[Finding]:
    best, *others = contest.ranking(sizes)
    behind: list[tuple[str, Interval]] = []
    level: list[str] = []
    for other in others:
        interval = _beyond(contest.ratios(other, best, sizes), FASTER)
        if interval is None:
            level.append(other)
        else:
            behind.append((other, interval))
    if not behind:
        return
    words = ", ".join(
        f"{contest.titles[other]} {'' if number else 'takes '}{times(interval.median)}"
        + (f" ({_ends(interval)})" if number else f" as long ({between(interval)})")
        for number, (other, interval) in enumerate(behind)
    )
    leaders = " or ".join(contest.titles[mpi] for mpi in (best, *level))
    first, last = format_size(sizes[0]), format_size(sizes[-1])
    worst = behind[-1][1]
    yield Finding(
        f"{leaders} is fastest for {name} messages ({first} to {last}"
        f"{'; too close to tell apart' if level else ''}). {words}.",
        importance=_weight(worst.median, 50, 75),
        kind=f"fastest-{name}",
        value=worst.median,
        low=worst.low,
        high=worst.high,
        mpi=best,
    )


def _switches(data: ReportData) -> Iterator[Finding]:
    """Changes of protocol that cost or save time, from the models' jumps."""
    for model in data.models:
        if model.pattern != common.MAIN_PATTERN:
            continue
        frame = _curve_of(model, data.launches)
        sides = zip(model.segments, model.segments[1:], strict=False)
        for change, (left, right) in zip(model.breakpoints, sides, strict=False):
            if change.kind == "jump":
                yield from _switch(data, frame, left, right)


def _curve_of(model: FittedModel, launches: pl.DataFrame) -> pl.DataFrame:
    """The launch medians of the curve that a model describes."""
    same = [pl.col(name) == getattr(model, name) for name in CURVE_COLUMNS]
    return launches.filter(pl.col("median_s") > 0, *same)


def _switch(
    data: ReportData, frame: pl.DataFrame, left: Segment, right: Segment
) -> Iterator[Finding]:
    before, after = left.to_bytes, right.from_bytes
    jumps = _jumps(frame, left, right)
    if len(jumps) < 2:
        return
    jump = ratio_interval(jumps)
    if jump.high >= 1 / COSTLY and jump.low <= COSTLY:
        return
    costs = jump.low > COSTLY
    first = frame.row(0, named=True)
    title = common.with_series(frame.head(1), data)["series"][0]
    place = f"at {before} B" if after <= before * 1.06 else f"between {before} B and {after} B"
    yield Finding(
        f"{title}: the switch {place} {_change(jump)}: "
        f"{format_time(_time_s(frame, before))} for {format_size(before)}, "
        f"{format_time(_time_s(frame, after))} for {format_size(after)}.",
        importance=_weight(jump.median, 45 if costs else 40, 70),
        kind="switch-costs" if costs else "switch-saves",
        remedy=_quicker(data, first, after) if costs else "",
        value=jump.median,
        low=jump.low,
        high=jump.high,
        mpi=first["mpi"],
        size_bytes=before,
    )


def _jumps(frame: pl.DataFrame, left: Segment, right: Segment) -> list[float]:
    """Per launch, the time after a switch over what the library would need had it gone on before.

    The models give the shape; where a launch lies above or below them is the middle over the
    nearest sizes of each side, so that a hiccup at one size is not taken for the switch.
    """
    sides = []
    for segment, nearest in ((left, True), (right, False)):
        inside = frame.filter(pl.col("bytes").is_between(segment.from_bytes, segment.to_bytes))
        sizes = inside["bytes"].unique().sort(descending=nearest).head(SIZES_BESIDE).to_list()
        modelled = segment.t0_s + pl.col("bytes") / segment.r_inf_Bps
        levels = inside.filter(pl.col("bytes").is_in(sizes)).group_by("launch")
        sides.append(levels.agg((pl.col("median_s") / modelled).median().alias("level")))
    place = right.from_bytes
    jump = _modelled(right, place) / _modelled(left, place)
    pairs = sides[0].join(sides[1], on="launch", suffix="_right").sort("launch")
    return (pairs["level_right"] / pairs["level"] * jump).to_list()


def _change(jump: Interval) -> str:
    """'costs 40 % (interval 35 to 46 %)', 'saves 30 % ...' or 'costs 6.8x the time ...'."""
    if jump.median >= 2:
        return f"costs {times(jump.median)} the time ({between(jump)})"
    share, low, high = (abs(ratio - 1) for ratio in (jump.median, jump.low, jump.high))
    verb = "costs" if jump.median > 1 else "saves"
    low, high = min(low, high), max(low, high)
    return f"{verb} {_percent(share)} (interval {low * 100:.0f} to {_percent(high)})"


def _modelled(segment: Segment, size: int) -> float:
    return float(segment.t0_s + size / segment.r_inf_Bps)


def _time_s(frame: pl.DataFrame, size: int) -> float:
    """The reported time over launches at one size, the same as in the tables."""
    return launch_interval(frame.filter(pl.col("bytes") == size)["median_s"].to_numpy()).median


def _quicker(data: ReportData, point: dict[str, Any], size: int) -> str:
    """The library measured to be faster in the same setting at this size or next to it."""
    for contest in _contests(data):
        near = [common_size for common_size in contest.sizes() if size <= common_size <= 2 * size]
        if not near or any(contest.setting[name] != point[name] for name in SETTING):
            continue
        rivals = [mpi for mpi in contest.titles if mpi != point["mpi"]]
        best = min(rivals, key=lambda mpi: contest.time_s(mpi, near[0]))
        interval = _beyond(contest.ratios(point["mpi"], best, near[:1]), FASTER)
        if interval is not None:
            needs = format_time(contest.time_s(best, near[0]))
            return f"{contest.titles[best]} needs {needs} for {format_size(near[0])} here."
    return ""


def _modes(data: ReportData) -> Iterator[Finding]:
    """One finding per send mode that costs or saves, the worst library first."""
    ratios = common.with_series(mode_ratios(data), data)
    for (pattern,), frame in ratios.group_by("pattern", maintain_order=True):
        costs: list[tuple[str, str, str, Interval]] = []
        for (series, mpi), of_series in frame.group_by("series", "mpi", maintain_order=True):
            worst = _worst_class(of_series)
            if worst is not None:
                costs.append((str(series), str(mpi), *worst))
        costs.sort(key=lambda item: -item[3].median)
        if costs:
            yield _mode(str(pattern), costs)


def _worst_class(frame: pl.DataFrame) -> tuple[str, Interval] | None:
    """The size class in which a mode costs most, where that is beyond doubt."""
    found: list[tuple[str, Interval]] = []
    for name, low, high in CLASSES:
        middles = (
            frame.filter(pl.col("bytes").is_between(low, high))
            .group_by("launch")
            .agg(pl.col("ratio").median())
        )
        interval = _beyond(middles["ratio"].to_list(), COSTLY)
        if interval is not None:
            found.append((name, interval))
    return max(found, key=lambda item: item[1].median) if found else None


def _mode(pattern: str, costs: list[tuple[str, str, str, Interval]]) -> Finding:
    series, mpi, size_class, interval = costs[0]
    also = ", ".join(f"{name} ({times(cost.median)}, {kind})" for name, _, kind, cost in costs[1:])
    mode = mode_name(pattern)
    if pattern.endswith("-diffbuf"):
        what, remedy = "Changing the buffer costs", "Reuse one buffer: that is the standard case."
    else:
        what = f"A {mode} send costs" if "(" in mode else f"{mode} costs"
        remedy = "Use the standard send where the program allows it."
    return Finding(
        f"{what} {times(interval.median)} the standard send for {size_class} messages on {series} "
        f"({between(interval)})" + (f"; also {also}." if also else "."),
        importance=_weight(interval.median, 40, 60),
        kind="send-mode",
        remedy=remedy,
        value=interval.median,
        low=interval.low,
        high=interval.high,
        mpi=mpi,
        pattern=pattern,
    )


DOUBT_WEIGHTS = {"oversubscribed": 35, "unpinned": 34, "one-launch": 30, "bimodal": 28, "drift": 26}
"""Doubts that bend results weigh more than those that widen intervals."""

SAID_ELSEWHERE = {"unverified", "imprecise"}
"""Advice with a finding of its own."""


def _doubted(data: ReportData) -> Iterator[Finding]:
    """Each kind of advice that points carry, once, with how many points carry it."""
    carried = common.with_series(data.summary, data).explode("advice").drop_nulls("advice")
    carried = carried.filter(~pl.col("advice").is_in(list(SAID_ELSEWHERE)))
    total = data.summary.height
    everyone = len(common.series_names(data))
    for (name,), frame in carried.group_by("advice", maintain_order=True):
        what, remedy = _doubt(str(name))
        libraries = sorted(frame["series"].unique())
        where = "" if len(libraries) == everyone else f" ({', '.join(libraries)})"
        yield Finding(
            f"{_sentence(what)}: {frame.height} of {_count(total, 'point')}{where}.",
            importance=DOUBT_WEIGHTS.get(str(name), 22) + 4 * frame.height / total,
            kind=str(name),
            remedy=f"{_sentence(remedy)}." if remedy else "",
            value=frame.height,
        )


def _doubt(name: str) -> tuple[str, str]:
    """The words for an advice and its remedy; one that is not known speaks for itself."""
    try:
        known = advice(name)
    except InputError:
        return f"the advice {name!r} was given", ""
    return known.what, known.remedy


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:]


def _unsure(data: ReportData) -> Iterator[Finding]:
    """How many points missed the precision that was asked for."""
    points = common.with_series(missed(data), data)
    if points.is_empty():
        return
    targets = {target_of(values) for values in data.environments.values()} or {target_of({})}
    worst = points.row(0, named=True)
    yield Finding(
        f"{points.height} of {_count(data.summary.height, 'point')} did not reach the precision "
        f"of ±{max(targets) * 100:.3g} %; the widest is {worst['series']}, {worst['pattern']} of "
        f"{format_size(worst['bytes'])}: {format_time(worst['median_s'])} "
        f"{common.half_width_text(worst['half_width'])}.",
        importance=10 + 29 * points.height / data.summary.height,
        kind="precision-missed",
        remedy="Measure longer (a larger --budget) or more often (--launches).",
        value=points.height,
        mpi=worst["mpi"],
        pattern=worst["pattern"],
        size_bytes=worst["bytes"],
    )


def _percent(value: float) -> str:
    return f"{value * 100:.0f} %"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}" + ("" if number == 1 else "s")
