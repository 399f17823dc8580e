"""A run requested from Python: the options of `nhalf run` as keywords with values."""

import operator
from collections.abc import Iterable, Mapping
from os import PathLike
from pathlib import Path
from typing import Any, TypedDict

from nhalf.base.arguments import shown
from nhalf.base.errors import InputError, unknown
from nhalf.base.request import Parameter, parameters
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

    `sizes` is a former name of `bytes`, `budget` a duration such as '60s', `precision` the relative
    half-width at which an interval suffices, `out` the run directory to create.
    """

    study: str
    ranks: Numbers
    bytes: Numbers
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
    """Return the request for these options, by the names of the command line or of its fields.

    Raises InputError for an unknown option, one that is given by both names, and a value that it
    does not take.
    """
    parameters_by_word: dict[str, Parameter] = {}
    for parameter in parameters(RunRequest):
        spelled = parameter.spelling.lstrip("-").replace("-", "_")
        parameters_by_word |= {spelled: parameter, parameter.name: parameter}
    words = [*Options.__annotations__, "pattern"]
    fields: dict[str, Any] = {}
    for word, value in values.items():
        if word not in words:
            raise unknown("option", word, words)
        parameter = parameters_by_word[word]
        if parameter.name in fields:
            raise InputError(f"{parameter.spelling} is given by two names", "leave one of them out")
        try:
            fields[parameter.name] = _typed_value(value, parameter.kind, parameter.many)
        except (TypeError, ValueError) as error:
            raise InputError(
                f"{word}={shown(value)} is no value of {parameter.spelling}", "see nhalf run --help"
            ) from error
    return RunRequest(**fields, given=frozenset(fields) - NOT_OF_THE_JOB)


def ranks_of(numbers: Numbers, cores: int) -> list[int]:
    """Return numbers of ranks, given as numbers or as on the command line, where `cores` stands."""
    from nhalf.measure.plan.axes import parse_ranks

    return parse_ranks(numbers, cores) if isinstance(numbers, str) else _whole(numbers)


def bytes_of(numbers: Numbers) -> list[int]:
    """Return sizes in bytes, given as numbers or as on the command line."""
    from nhalf.measure.plan.plan import parse_sizes

    return list(parse_sizes(numbers).size_bytes) if isinstance(numbers, str) else _whole(numbers)


def _whole(numbers: int | Iterable[int]) -> list[int]:
    """Raises InputError for what are no whole numbers from 0 on."""
    is_one = isinstance(numbers, bytes | bytearray) or not isinstance(numbers, Iterable)
    sequence: Iterable[Any] = [numbers] if is_one else numbers  # type: ignore[assignment]
    try:
        values = [operator.index(number) for number in sequence]
    except TypeError:
        values = []
    if not values or min(values) < 0:
        raise InputError(
            f"{shown(numbers)} are no whole numbers from 0 on", "write [2, 8] or '2,8'"
        )
    return values


def _typed_value(value: Any, kind: type, many: bool) -> Any:
    """Convert a value to the type of the request's field.

    Raises TypeError or ValueError for a value that has no such meaning.
    """
    if isinstance(value, bytes | bytearray | Mapping):
        raise TypeError(type(value))
    if many:
        return tuple(kind(item) for item in ([value] if isinstance(value, str) else value))
    if kind is Path:
        return Path(value)
    if kind is str and not isinstance(value, str):
        return str(value) if isinstance(value, int) else ",".join(map(str, value))
    return operator.index(value) if kind is int and not isinstance(value, str) else kind(value)
