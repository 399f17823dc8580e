"""Discovery of plug-ins: a module holds one, and the module's name is the plug-in's name.

Built-in plug-ins are found by their folder, those of installed packages by their entry points:
the group for `nhalf.sites.launchers` is `nhalf.launchers`, and so on (a folder whose group has
another name defines `ENTRY_POINTS`). Entry points are looked up only when a kind is loaded.

A folder that defines `BY_SUBJECT = True` has several to a module: there each class is one, and its
name in words is that of the plug-in, without the name of the kind: `LongWaitFinder` is long-wait.
"""

from __future__ import annotations

import functools
import importlib
import inspect
import keyword
import pkgutil
import re
from types import ModuleType
from typing import TYPE_CHECKING, Any, TypeVar

from nhalf.base.errors import MissingError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

Kind = TypeVar("Kind")


def names(package: str) -> list[str]:
    """The names of the modules in a package, dashes for underscores, without importing them."""
    return sorted(map(_plugin_name, _modules(package)))


def _plugin_name(module: str) -> str:
    """The plug-in's name for a dotted module."""
    return module.rpartition(".")[2].rstrip("_").replace("_", "-")


def _modules(package: str) -> list[str]:
    """The dotted names of the modules that hold the built-in plug-ins of a package."""
    modules = pkgutil.iter_modules(importlib.import_module(package).__path__)
    return [f"{package}.{m.name}" for m in modules if not m.name.startswith("_")]


def module_name(name: str) -> str:
    """The module for a name: dashes become underscores, and a Python keyword gets one appended."""
    return name.replace("-", "_") + ("_" if keyword.iskeyword(name) else "")


def group(package: str) -> str:
    """The entry point group with which other packages extend a folder."""
    own = package.rpartition(".")[2]
    return str(getattr(importlib.import_module(package), "ENTRY_POINTS", f"nhalf.{own}"))


@functools.cache
def load(package: str, kind: type[Kind]) -> dict[str, type[Kind]]:
    """The concrete subclasses of `kind` in the modules of a folder, by name: built-in and external.

    A module holds one, unless the folder defines `BY_SUBJECT`. An entry point names such a module,
    or a class in it. Raises MissingError for one that cannot be loaded, is not of this kind, or has
    a name already in use: a broken plug-in is an error and is never skipped silently.
    """
    by_subject = getattr(importlib.import_module(package), "BY_SUBJECT", False)
    own: list[tuple[str, type[Kind]]] = []
    for path in _modules(package):
        module = importlib.import_module(path)
        if by_subject:
            own += [(_class_name(chosen, kind), chosen) for chosen in _classes(module, kind, path)]
        else:
            own.append((_plugin_name(path), _only_class(module, kind, path)))
    loaded: dict[str, type[Kind]] = {}
    for name, chosen in sorted(own, key=lambda item: item[0]):
        if name in loaded:
            message = f"{chosen.__module__} has the name of {loaded[name].__module__}: {name}"
            raise MissingError(message, "rename one of them")
        loaded[name] = chosen
    for point in sorted(_entry_points().select(group=group(package))):
        origin = f"{_package_of(point)} ({point.group}: {point.name} = {point.value})"
        if point.name in loaded:
            raise MissingError(
                f"{origin} has the name of another one, of {loaded[point.name].__module__}",
                f"remove one of them, such as with pip uninstall {_package_of(point)}",
            )
        loaded[point.name] = _class_of(point, kind, origin)
    return loaded


@functools.cache
def _entry_points() -> Any:
    """All entry points (EntryPoints); imported lazily because most commands do not need them."""
    from importlib.metadata import entry_points

    return entry_points()


def _package_of(point: EntryPoint) -> str:
    """The installed package that declares an entry point."""
    return point.dist.name if point.dist else "a package without a name"


def _class_of(point: EntryPoint, kind: type[Kind], origin: str) -> type[Kind]:
    """The class that an entry point refers to. Raises MissingError."""
    try:
        target = point.load()
    except Exception as error:  # a third-party module may raise anything on import
        raise MissingError(
            f"{origin} cannot be loaded: {type(error).__name__}: {error}",
            f"fix it, or remove it with pip uninstall {_package_of(point)}",
        ) from error
    if isinstance(target, ModuleType):
        return _only_class(target, kind, origin)
    if not _is_concrete(target, kind):
        raise MissingError(
            f"{origin} is no class of kind {kind.__name__} with all its methods",
            "an entry point names such a class, or a module that defines exactly one",
        )
    chosen: type[Kind] = target
    return chosen


def _only_class(module: ModuleType, kind: type[Kind], origin: str) -> type[Kind]:
    """The one class of a kind that a module defines. Raises MissingError for none or several."""
    own = _classes(module, kind, origin)
    if len(own) != 1:
        raise _wrong_number(len(own), kind, origin, "a plug-in defines exactly one")
    return own[0]


def _classes(module: ModuleType, kind: type[Kind], origin: str) -> list[type[Kind]]:
    """The classes of a kind that a module defines. Raises MissingError for none."""
    own = [
        item
        for item in vars(module).values()
        if _is_concrete(item, kind) and item.__module__ == module.__name__
    ]
    if not own:
        raise _wrong_number(0, kind, origin, "a file of this folder defines one at least")
    return own


def _wrong_number(number: int, kind: type, origin: str, rule: str) -> MissingError:
    return MissingError(f"{origin} defines {number} classes of kind {kind.__name__}", rule)


def _class_name(chosen: type, kind: type) -> str:
    """The plug-in's name for a class: LongWait and LongWaitFinder are long-wait."""
    name = chosen.__name__.removesuffix(kind.__name__)
    return re.sub(r"(?<!^)(?=[A-Z])", "-", name).lower()


def _is_concrete(item: Any, kind: type) -> bool:
    """Whether something is a concrete class of a kind, not the kind itself or an abstract class."""
    return (
        inspect.isclass(item)
        and issubclass(item, kind)
        and item is not kind
        and not inspect.isabstract(item)
    )
