# SPDX-License-Identifier: Apache-2.0
"""Discovery by folder: one module holds one kind of thing, the file's name is its name."""

from __future__ import annotations

import functools
import importlib
import inspect
import keyword
import pkgutil
from typing import TypeVar

from nhalf.base.errors import MissingError

Kind = TypeVar("Kind")


def names(package: str) -> list[str]:
    """The names of the modules in a package, dashes for underscores, without importing them."""
    path = importlib.import_module(package).__path__
    found = [m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_")]
    return sorted(name.rstrip("_").replace("_", "-") for name in found)


def module_name(name: str) -> str:
    """The module of a name: underscores for dashes, and one after a word that Python keeps."""
    return name.replace("-", "_") + ("_" if keyword.iskeyword(name) else "")


@functools.cache
def load(package: str, kind: type[Kind]) -> dict[str, type[Kind]]:
    """Every module's one concrete subclass of `kind`, by name.

    Raises MissingError when a module has none or several: a broken plugin is an error, not a
    silence.
    """
    loaded: dict[str, type[Kind]] = {}
    for name in names(package):
        module = importlib.import_module(f"{package}.{module_name(name)}")
        own = [
            item
            for item in vars(module).values()
            if inspect.isclass(item)
            and issubclass(item, kind)
            and item is not kind
            and not inspect.isabstract(item)
            and item.__module__ == module.__name__
        ]
        if len(own) != 1:
            raise MissingError(
                f"{module.__name__} defines {len(own)} classes of kind {kind.__name__}",
                "a plugin file defines exactly one",
            )
        loaded[name] = own[0]
    return loaded
