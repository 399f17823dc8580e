# SPDX-License-Identifier: Apache-2.0
"""Discovery: one module holds one kind of thing, and its name is the thing's name.

Our own are found by their folder, those of installed packages by their entry points: the group
of `nhalf.sites.launchers` is `nhalf.launchers`, and so on (a folder that is called otherwise says
so as `ENTRY_POINTS`). Entry points are looked for when a kind is loaded and not before.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import keyword
import pkgutil
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from nhalf.base.errors import MissingError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Kind = TypeVar("Kind")


def names(package: str) -> list[str]:
    """The names of the modules in a package, dashes for underscores, without importing them."""
    path = importlib.import_module(package).__path__
    found = [m.name for m in pkgutil.iter_modules(path) if not m.name.startswith("_")]
    return sorted(name.rstrip("_").replace("_", "-") for name in found)


def module_name(name: str) -> str:
    """The module of a name: underscores for dashes, and one after a word that Python keeps."""
    return name.replace("-", "_") + ("_" if keyword.iskeyword(name) else "")


def group(package: str) -> str:
    """The group of entry points under which other packages add to a folder."""
    own = package.rpartition(".")[2]
    return str(getattr(importlib.import_module(package), "ENTRY_POINTS", f"nhalf.{own}"))


@functools.cache
def load(package: str, kind: type[Kind]) -> dict[str, type[Kind]]:
    """Every module's one concrete subclass of `kind`, by name: our own and those of others.

    An entry point names a module like ours, or the class itself. Raises MissingError for one that
    cannot be loaded, is of no such kind, or has a name that is taken: a broken plug-in is an
    error, not a silence.
    """
    loaded: dict[str, type[Kind]] = {}
    for name in names(package):
        module = importlib.import_module(f"{package}.{module_name(name)}")
        loaded[name] = _only_class(module, kind, module.__name__)
    for point in sorted(_entry_points().select(group=group(package))):
        whose = f"{_package_of(point)} ({point.group}: {point.name} = {point.value})"
        if point.name in loaded:
            raise MissingError(
                f"{whose} has the name of another one, of {loaded[point.name].__module__}",
                f"remove one of them, such as with pip uninstall {_package_of(point)}",
            )
        loaded[point.name] = _class_of(point, kind, whose)
    return loaded


@functools.cache
def _entry_points() -> Any:
    """All entry points (EntryPoints); imported here, since most starts do without."""
    from importlib.metadata import entry_points

    return entry_points()


def _package_of(point: EntryPoint) -> str:
    """The installed package that an entry point is from."""
    return point.dist.name if point.dist else "a package without a name"


def _class_of(point: EntryPoint, kind: type[Kind], whose: str) -> type[Kind]:
    """The class that an entry point stands for. Raises MissingError."""
    try:
        found = point.load()
    except Exception as error:  # whatever a stranger's module does while it is imported
        raise MissingError(
            f"{whose} cannot be loaded: {type(error).__name__}: {error}",
            f"mend it, or remove it with pip uninstall {_package_of(point)}",
        ) from error
    if isinstance(found, ModuleType):
        return _only_class(found, kind, whose)
    if not _is_concrete(found, kind):
        raise MissingError(
            f"{whose} is no class of kind {kind.__name__} with all its methods",
            "an entry point names such a class, or a module that defines exactly one",
        )
    chosen: type[Kind] = found
    return chosen


def _only_class(module: ModuleType, kind: type[Kind], whose: str) -> type[Kind]:
    """The one class of a kind that a module defines. Raises MissingError for none or several."""
    own = [
        item
        for item in vars(module).values()
        if _is_concrete(item, kind) and item.__module__ == module.__name__
    ]
    if len(own) != 1:
        raise MissingError(
            f"{whose} defines {len(own)} classes of kind {kind.__name__}",
            "a plug-in defines exactly one",
        )
    chosen: type[Kind] = own[0]
    return chosen


def _is_concrete(item: Any, kind: type) -> bool:
    """Whether something is a class of a kind, and not the kind itself or a half-made one."""
    return (
        inspect.isclass(item)
        and issubclass(item, kind)
        and item is not kind
        and not inspect.isabstract(item)
    )
