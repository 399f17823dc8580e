# SPDX-License-Identifier: Apache-2.0
"""A run requested from Python: the options of `nhalf run` as keywords with values."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

from nhalf.base.errors import unknown
from nhalf.base.request import parameters
from nhalf.facts.facts import Facts
from nhalf.jobs.request import NOT_OF_THE_JOB, RunRequest
from nhalf.measure.loop.progress import Progress
from nhalf.measure.loop.session import begin, measure
from nhalf.measure.plan.planning import plan_of, site_of

Words = str | Iterable[str]
"""One text as on the command line, or several."""
Numbers = str | int | Iterable[int]
"""One number, several, or a text as on the command line: '2:cores:x2', '0:4M'."""


class Options(TypedDict, total=False):
    """The keywords of a run, with the names of the options of `nhalf run`.

    `sizes` are bytes (`--bytes`), `budget` a duration such as '60s', `precision` the relative
    half-width at which an interval suffices, `out` the run directory to create.
    """

    study: str
    ranks: Numbers
    sizes: Numbers
    mpi: Words
    transport: Words
    algorithm: Words
    placement: Words
    axis: Iterable[str]
    setting: Iterable[str]
    model: str
    launches: int
    budget: str
    precision: float
    seed: int
    timeout: str
    hosts: Words
    host_file: str | PathLike[str]
    launcher: str
    mpi_prefix: Iterable[str | PathLike[str]]
    out: str | PathLike[str]


def run_of(pattern: Words, options: Mapping[str, Any], *, quiet: bool) -> Facts:
    """Measure, and return the facts; an interruption keeps every finished point.

    Raises InputError for invalid options, MissingError if nothing can be measured.
    """
    request = request_of({**({"pattern": pattern} if pattern else {}), **options})
    site = site_of(request)
    return Facts.of(
        [measure(begin(plan_of(request, site), request.out, site), Progress(quiet)).run]
    )


def request_of(values: Mapping[str, Any]) -> RunRequest:
    """Return the request for these options; raises InputError for an unknown one."""
    parameters_by_name = {parameter.name: parameter for parameter in parameters(RunRequest)}
    names = [*Options.__annotations__, "pattern"]
    for name in values:
        if name not in names:
            raise unknown("option", name, names)
    fields = {
        name: _typed_value(value, parameters_by_name[name].kind, parameters_by_name[name].many)
        for name, value in values.items()
    }
    return RunRequest(**fields, given=frozenset(fields) - NOT_OF_THE_JOB)


def _typed_value(value: Any, kind: type, many: bool) -> Any:
    """Convert a value to the type of the request's field."""
    if many:
        return tuple(kind(item) for item in ([value] if isinstance(value, str) else value))
    if kind is Path:
        return Path(value)
    if kind is str and not isinstance(value, str):
        return str(value) if isinstance(value, int) else ",".join(map(str, value))
    return kind(value)
