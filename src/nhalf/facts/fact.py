"""How a fact is computed once: the only mechanism of `Facts` and `Program`."""

import functools
import inspect
import threading
from collections.abc import Callable, Hashable, Iterator
from typing import Any, Concatenate, ParamSpec, TypeVar, cast, overload

Subject = TypeVar("Subject")
Arguments = ParamSpec("Arguments")
Value = TypeVar("Value")
Key = tuple[str, tuple[Hashable, ...]]

REGISTRY: dict[str, Callable[..., Any]] = {}
"""The body of every fact that was imported, by its module and name."""

_MEMBER = "_facts"
"""The member of a subject that holds its cache, so that both are freed together."""


class _Cache:
    """The values that were computed of one subject; a thread waits for what another computes."""

    def __init__(self) -> None:
        self.values: dict[Key, Any] = {}
        self.lock = threading.RLock()


@overload
def fact(
    function: Callable[Concatenate[Subject, Arguments], Iterator[Value]],
) -> Callable[Concatenate[Subject, Arguments], tuple[Value, ...]]: ...


@overload
def fact(
    function: Callable[Concatenate[Subject, Arguments], Value],
) -> Callable[Concatenate[Subject, Arguments], Value]: ...


def fact(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compute a function of `Facts` or `Program` once for each subject and further arguments.

    The first argument is the subject, which keeps the value; the others must be hashable. What a
    generator yields becomes a tuple. Under `property`, a method is a fact, too. Callers share the
    value and must not change it.
    """
    name = f"{function.__module__}.{function.__qualname__}"
    REGISTRY[name] = function
    further = list(inspect.signature(function).parameters.values())[1:]

    def arguments_of(positional: tuple[Any, ...], keywords: dict[str, Any]) -> tuple[Hashable, ...]:
        if len(positional) == len(further):
            return positional
        omitted = further[len(positional) :]
        return (
            *positional,
            *(keywords.get(parameter.name, parameter.default) for parameter in omitted),
        )

    @functools.wraps(function)
    def computed(subject: object, *positional: Any, **keywords: Any) -> Any:
        cache = _cache_of(subject)
        key = (name, arguments_of(positional, keywords) if further else ())
        with cache.lock:
            if key not in cache.values:
                cache.values[key] = compute(function, subject, *positional, **keywords)
            return cache.values[key]

    return computed


def compute(
    function: Callable[..., Any], subject: object, *positional: Any, **keywords: Any
) -> Any:
    """Compute a fact, whether or not it was computed before."""
    value = function(subject, *positional, **keywords)
    return tuple(value) if inspect.isgenerator(value) else value


def supply(subject: object, member: property, value: object) -> None:
    """Give a subject the value of a property that is a fact, instead of computing it."""
    body = inspect.unwrap(cast("Callable[..., Any]", member.fget))
    _cache_of(subject).values[f"{body.__module__}.{body.__qualname__}", ()] = value


def _cache_of(subject: object) -> _Cache:
    cache: _Cache | None = vars(subject).get(_MEMBER)
    return vars(subject).setdefault(_MEMBER, _Cache()) if cache is None else cache
