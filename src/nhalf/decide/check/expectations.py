"""The file of expectations: promises about a machine as typed TOML, and the points they are of.

A file to begin with has what a run measured, as promises.
"""

import fnmatch
import functools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec
import polars as pl

from nhalf.base.errors import InputError, unknown
from nhalf.base.listing import ranks_text
from nhalf.base.numbers import percent
from nhalf.base.typed_toml import typed
from nhalf.base.units import (
    format_size,
    format_time,
    parse_rate,
    parse_share,
    parse_size,
    parse_time,
)
from nhalf.decide.check.verdict import Bounds, Unit
from nhalf.facts.facts import Facts
from nhalf.results import kinds
from nhalf.store.keys import RUN_CURVE, axis, parse_axes

Words = str | list[str]
Numbers = int | str | list[int | str]

WILDCARDS = frozenset("*?[")


@dataclass(frozen=True)
class ColumnSelector:
    """Values of one column, or of one axis: exact ones, and others by wildcard or range."""

    column: str
    exact: tuple[str | int, ...] = ()
    wildcards: tuple[str, ...] = ()
    ranges: tuple[tuple[int, int], ...] = ()
    is_axis: bool = False

    def allows(self, value: str | int | None) -> bool:
        """Whether a value of the column is selected."""
        if value is None:
            return False
        if value in self.exact:
            return True
        if isinstance(value, int):
            return any(low <= value <= high for low, high in self.ranges)
        return any(fnmatch.fnmatchcase(value, pattern) for pattern in self.wildcards)

    def values(self, frame: pl.DataFrame) -> list[Any]:
        """The values that the column, or the axis, has in a frame, each once."""
        return frame.select(self._expression().unique()).to_series().to_list()

    def of(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of a frame with a selected value."""
        allowed = [value for value in self.values(frame) if self.allows(value)]
        return frame.filter(self._expression().is_in(allowed))

    def missing(self, frame: pl.DataFrame) -> list[str | int]:
        """The exact values that no row of a frame has."""
        frame_values = set(self.values(frame))
        return [value for value in self.exact if value not in frame_values]

    def text(self) -> str:
        """The selection in words: '0 B to 8 KiB', '2 ranks', 'mpich'."""
        parts = [self._written(value) for value in self.exact]
        parts += self.wildcards
        parts += [f"{self._written(low)} to {self._written(high)}" for low, high in self.ranges]
        listed = ", ".join(parts)
        if self.is_axis:
            return f"{self.column}={listed}"
        return ranks_text(listed) if self.column == "ranks" else listed

    def _written(self, value: str | int) -> str:
        return format_size(int(value)) if self.column == "bytes" else str(value)

    def _expression(self) -> pl.Expr:
        return axis(self.column) if self.is_axis else pl.col(self.column)


def select(frame: pl.DataFrame, selectors: Sequence[ColumnSelector]) -> pl.DataFrame:
    """The rows that all selectors allow."""
    for selector in selectors:
        frame = selector.of(frame)
    return frame


def words(column: str, written: Words, *, is_axis: bool = False) -> ColumnSelector:
    """A selector of texts: one or several, each exact or with the wildcards * ? [a-z]."""
    texts = [written] if isinstance(written, str) else list(written)
    plain = tuple(text for text in texts if not WILDCARDS.intersection(text))
    wild = tuple(text for text in texts if WILDCARDS.intersection(text))
    return ColumnSelector(column, plain, wild, is_axis=is_axis)


def numbers(column: str, written: Numbers) -> ColumnSelector:
    """A selector of ranks or bytes: 8, "8K", "0,8,4K", "0:8K" or a list of these.

    A range includes both ends. Raises InputError for anything but numbers.
    """
    items = written if isinstance(written, list) else [written]
    texts = [part for item in items for part in str(item).split(",")]
    read: Callable[[str], int] = parse_size if column == "bytes" else _count
    exact, ranges = [], []
    for text in texts:
        low, colon, high = text.partition(":")
        if not colon:
            exact.append(read(low))
        elif read(low) <= read(high):
            ranges.append((read(low), read(high)))
        else:
            raise InputError(f"the range {text!r} ends before it begins", f"write {high}:{low}")
    return ColumnSelector(column, tuple(exact), ranges=tuple(ranges))


def axes(written: Mapping[str, Numbers]) -> list[ColumnSelector]:
    """A selector for every axis: a value, or a list of values."""
    return [
        words(name, [str(v) for v in (value if isinstance(value, list) else [value])], is_axis=True)
        for name, value in written.items()
    ]


def _count(text: str) -> int:
    if not (text.strip().isdecimal() and len(text) < 10):
        raise InputError(f"{text!r} is not a number of ranks", 'write 2, [2, 4] or "2:8"')
    return int(text)


POINT_METRICS: dict[str, Unit] = {"time": "s", "bandwidth": "Bps"}
MODEL_METRICS: dict[str, Unit] = {"t0": "s", "r_inf": "Bps", "n_half": "bytes"}

Amount = str | int | float
Read = TypeVar("Read")


class WrittenExpectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An [[expect]] as written. An omitted selector matches everything.

    `at_most` and `at_least` are texts with units, such as "3us", "1.2 GB/s" or "64K"; numbers for
    results without a unit. `tolerance` is "5%" or 0.05. `quantile`, "99%" or 0.99, is of samples,
    for times; without it they are medians.
    """

    metric: str
    at_most: Amount | None = None
    at_least: Amount | None = None
    tolerance: Amount | None = None
    quantile: Amount | None = None
    name: str = ""
    source: str = ""
    transport: Words = []
    mpi: Words = []
    pattern: Words = []
    algorithm: Words = []
    ranks: Numbers = []
    placement: Words = []
    axes: dict[str, Numbers] = {}
    bytes: Numbers = []


class WrittenFile(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The file as written; `source` and `tolerance` are defaults for each [[expect]]."""

    expect: list[WrittenExpectation]
    source: str = ""
    tolerance: Amount | None = None


@dataclass(frozen=True)
class Expectation:
    """One promise: a metric, its bounds including the tolerance, and its subject.

    `metric` is one of POINT_METRICS or MODEL_METRICS, or a result: its name and, after a dot, one
    of its members. A time may be that of a quantile of the samples.
    """

    name: str
    source: str
    metric: str
    unit: Unit
    bounds: Bounds
    selectors: tuple[ColumnSelector, ...]
    quantile_share: float | None = None


def read_expectations(
    path: Path, content: Mapping[str, Any], tolerance: float | None
) -> list[Expectation]:
    """The promises of a file; `tolerance` is the default for those without one.

    Raises InputError that names the file, the place and what is allowed.
    """
    written = typed(path, content, WrittenFile, {"expect": WrittenExpectation})
    if not written.expect:
        raise InputError(f"{path} expects nothing", "add an [[expect]] with a metric and a bound")
    if written.tolerance is not None:
        tolerance = _at(path, "tolerance", parse_share, str(written.tolerance))
    return [
        _expectation(path, f"expect[{place}]", expectation, written.source, tolerance or 0.0)
        for place, expectation in enumerate(written.expect)
    ]


def _expectation(
    path: Path, place: str, written: WrittenExpectation, source: str, tolerance: float
) -> Expectation:
    unit = _at(path, f"{place}.metric", unit_of, written.metric)
    if written.tolerance is not None:
        tolerance = _at(path, f"{place}.tolerance", parse_share, str(written.tolerance))
    bounds = _bounds(path, place, written, unit, tolerance)
    selectors = _selectors(path, place, written)
    allowed = ["transport", "mpi", "ranks", "placement"]
    if written.metric in POINT_METRICS or written.metric in MODEL_METRICS:
        allowed += ["pattern", "algorithm", "axes", "bytes"]
    for selector in selectors:
        column = "axes" if selector.is_axis else selector.column
        if column not in allowed:
            message = f"{path}: {place}.{column}: {written.metric} cannot be selected by {column}"
            raise InputError(message, f"select it by {', '.join(allowed)}")
    quantile = _quantile(path, place, written)
    of_samples = [] if quantile is None else [f"of {percent(quantile, None)} of the samples"]
    described = " ".join([*(s.text() for s in selectors), written.metric, *of_samples])
    name = written.name or described
    return Expectation(
        *(name, written.source or source, written.metric, unit, bounds, tuple(selectors)), quantile
    )


def _quantile(path: Path, place: str, written: WrittenExpectation) -> float | None:
    """The quantile of the samples that is promised; None for the median of launches."""
    if written.quantile is None:
        return None
    share = _at(path, f"{place}.quantile", parse_share, str(written.quantile))
    if not 0 < share < 1:
        raise InputError(f"{path}: {place}.quantile: no share from 0 to 1", 'write "99%"')
    if written.metric != "time":
        raise InputError(f"{path}: {place}.quantile is of times", 'write metric = "time"')
    return round(share, 8)


def unit_of(metric: str) -> Unit:
    """The unit of a metric; raises InputError for one that is unknown."""
    units = {**POINT_METRICS, **MODEL_METRICS}
    if metric in units:
        return units[metric]
    name, _, member = metric.partition(".")
    results = kinds()
    if name not in results:
        raise unknown("metric", metric, [*units, *results])
    member = member or results[name].columns[0].name
    endings: dict[str, Unit] = {"_s": "s", "_Bps": "Bps", "_bytes": "bytes"}
    return next((unit for ending, unit in endings.items() if member.endswith(ending)), "")


def _bounds(
    path: Path, place: str, written: WrittenExpectation, unit: Unit, tolerance: float
) -> Bounds:
    def read(key: str, amount: Amount) -> float:
        return _at(path, f"{place}.{key}", lambda text: _amount(text, unit), str(amount))

    if written.at_most is None and written.at_least is None:
        raise InputError(f"{path}: {place} has no bound", "add at_most or at_least")
    low = 0.0 if written.at_least is None else read("at_least", written.at_least)
    high = math.inf if written.at_most is None else read("at_most", written.at_most)
    if low > high:
        raise InputError(f"{path}: {place}: at_least is above at_most", "nothing can meet both")
    return Bounds(low * max(0.0, 1 - tolerance), high * (1 + tolerance))


def _amount(text: str, unit: Unit) -> float:
    """A bound in the unit of its metric."""
    if unit == "s":
        return parse_time(text)
    if unit == "Bps":
        return parse_rate(text)
    if unit == "bytes":
        return parse_size(text)
    try:
        value = float(text)
    except ValueError:
        value = math.nan
    if not (math.isfinite(value) and value > 0):
        raise InputError(f"{text!r} is not a positive number", "this metric has no unit")
    return value


def _selectors(path: Path, place: str, written: WrittenExpectation) -> list[ColumnSelector]:
    """The selectors, in the usual order."""
    selectors: list[ColumnSelector] = []
    for column in ("pattern", "algorithm", "transport", "mpi", "placement"):
        texts: Words = getattr(written, column)
        if texts != []:
            selectors.append(words(column, texts))
    for column in ("ranks", "bytes"):
        values: Numbers = getattr(written, column)
        if values != []:
            read = functools.partial(numbers, column)
            selectors.append(_at(path, f"{place}.{column}", read, values))
    return [*selectors, *axes(written.axes)]


def _at(path: Path, place: str, read: Callable[[Any], Read], value: Any) -> Read:
    """The result of `read` for a value; an error names the position of the value."""
    try:
        return read(value)
    except InputError as error:
        raise InputError(f"{path}: {place}: {error.message}", error.remedy) from error


TEMPLATE_TOLERANCE = "10%"
HEAD = """# Edit the bounds and delete what nobody promised; omitted selectors match everything.
# Check a run with: nhalf check RUN --expect {name}
"""
TEMPLATE_SELECTORS = ("transport", "mpi", "pattern", "algorithm", "ranks", "placement")


def template(facts: Facts, name: str) -> str:
    """Promises as TOML: for each curve of a run the time of its smallest and its largest message.

    The bounds are the upper ends of the intervals. `name` is the file's, for its first lines.
    Raises InputError for a run without a measured time.
    """
    expectations = [*_of_run(facts)]
    if not expectations:
        raise InputError("the run has no time to promise", "measure first: nhalf run")
    content = {"source": "nhalf run", "tolerance": TEMPLATE_TOLERANCE, "expect": expectations}
    return HEAD.format(name=name) + msgspec.toml.encode(content).decode()


def _of_run(facts: Facts) -> Iterator[dict[str, Any]]:
    measured = facts.summary.filter(pl.col("median_s") > 0).sort(*RUN_CURVE, "bytes")
    for _, curve in measured.group_by(*RUN_CURVE, maintain_order=True):
        sizes = (0, -1) if curve.height > 1 else (0,)
        for place in sizes:
            yield _of_point(curve.row(place, named=True))


def _of_point(point: dict[str, Any]) -> dict[str, Any]:
    high_s = point["ci_high_s"]
    bound_s = high_s if high_s is not None and high_s < 2 * point["median_s"] else point["median_s"]
    axes = parse_axes(point["axes"])
    return {
        "metric": "time",
        **{name: point[name] for name in TEMPLATE_SELECTORS if point.get(name)},
        **({"axes": axes} if axes else {}),
        "bytes": point["bytes"],
        "at_most": format_time(bound_s),
    }
