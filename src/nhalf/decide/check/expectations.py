"""The file of expectations: promises about a machine, as typed TOML."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from nhalf.base.errors import InputError, unknown
from nhalf.base.typed_toml import typed
from nhalf.base.units import parse_rate, parse_share, parse_size, parse_time
from nhalf.decide.check.selector import ColumnSelector, Numbers, Words, axes, numbers, words
from nhalf.decide.check.verdict import Bounds, Unit
from nhalf.results import kinds

POINT_METRICS: dict[str, Unit] = {"time": "s", "bandwidth": "Bps"}
MODEL_METRICS: dict[str, Unit] = {"t0": "s", "r_inf": "Bps", "n_half": "bytes"}

Amount = str | int | float
Read = TypeVar("Read")


class WrittenExpectation(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """An [[expect]] as written. An omitted selector matches everything.

    `at_most` and `at_least` are texts with units, such as "3us", "1.2 GB/s" or "64K"; numbers for
    results without a unit. `tolerance` is "5%" or 0.05.
    """

    metric: str
    at_most: Amount | None = None
    at_least: Amount | None = None
    tolerance: Amount | None = None
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
    of its members.
    """

    name: str
    source: str
    metric: str
    unit: Unit
    bounds: Bounds
    selectors: tuple[ColumnSelector, ...]


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
    allowed = _allowed_selectors(written.metric)
    for selector in selectors:
        column = "axes" if selector.is_axis else selector.column
        if column not in allowed:
            raise InputError(
                f"{path}: {place}.{column}: {written.metric} cannot be selected by {column}",
                f"select it by {', '.join(allowed)}",
            )
    described = " ".join([*(s.text() for s in selectors), written.metric])
    name = written.name or described
    return Expectation(
        name, written.source or source, written.metric, unit, bounds, tuple(selectors)
    )


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


def _allowed_selectors(metric: str) -> tuple[str, ...]:
    subject = ("transport", "mpi", "ranks", "placement")
    if metric in POINT_METRICS or metric in MODEL_METRICS:
        return (*subject, "pattern", "algorithm", "axes", "bytes")
    return subject


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
