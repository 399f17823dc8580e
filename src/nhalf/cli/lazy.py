"""Imports at the head of a verb that wait until it is called, so that its help does not."""

from __future__ import annotations

import builtins
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NoReturn


@contextmanager
def lazily(module: Mapping[str, Any]) -> Iterator[None]:
    """Put off each `from SOURCE import NAME` in the block until NAME is used.

    `module` is the `globals()` of whoever imports. A name may be called, have its attributes read
    and be what isinstance asks for. Whatever else needs the thing itself, such as a constant or an
    error to be caught, raises TypeError: import that outside the block. NAME is looked up at
    every use, so that what a test puts into SOURCE is what is called.
    """
    import_now = builtins.__import__

    def import_later(
        name: str,
        globals: Mapping[str, Any] | None = None,
        locals: Mapping[str, Any] | None = None,
        fromlist: Sequence[str] | None = (),
        level: int = 0,
    ) -> Any:
        if globals is not module or not fromlist:
            return import_now(name, globals, locals, fromlist or (), level)
        return _Source(name)

    builtins.__import__ = import_later
    try:
        yield
    finally:
        builtins.__import__ = import_now


class _Source:
    """A module that is not imported: its attributes are what it will have."""

    def __init__(self, source: str) -> None:
        self._source = source

    def __getattr__(self, name: str) -> _Later:
        return _Later(self._source, name)


class _Later:
    """A function, class or module, which is imported when it is used."""

    def __init__(self, source: str, name: str) -> None:
        self._source, self._name = source, name

    def _thing(self) -> Any:
        source = import_module(self._source)
        if not hasattr(source, self._name) and find_spec(f"{self._source}.{self._name}"):
            return import_module(f"{self._source}.{self._name}")
        return getattr(source, self._name)

    def __call__(self, *values: Any, **options: Any) -> Any:
        return self._thing()(*values, **options)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._thing(), name)

    def __instancecheck__(self, value: object) -> bool:
        return isinstance(value, self._thing())

    def _refuse(self, *_: object) -> NoReturn:
        raise TypeError(f"import {self._name} of {self._source} outside lazily()")

    __bool__ = __eq__ = __format__ = __hash__ = __iter__ = __str__ = _refuse
