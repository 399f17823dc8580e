"""Settings: a library with its own environment variables is measured as a separate library.

Beside `openmpi-5.0.11` there is then `openmpi-5.0.11+NAME`, whose processes are started with the
variables of the setting; launches of both are interleaved, so that they can be compared. Names
with a dot are options of a transport: 'NAME: shmq.polling=directed' is `shmq+NAME`.
"""

from __future__ import annotations

import dataclasses
import re
import shlex
from collections.abc import Iterable, Sequence

import msgspec

from nhalf.base.errors import InputError
from nhalf.mpi import Library

JOINT = "+"
"""Joins a library's name and the name of a setting."""
HOW = 'write "NAME: VAR=value VAR2=value"'
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
_VARIABLE = re.compile(r"([a-z0-9]+\.)?[A-Za-z_][A-Za-z0-9_]*")
_KEPT = ("LD_LIBRARY_PATH", "OPAL_PREFIX", "I_MPI_ROOT")
"""Variables that decide which library runs: another value would measure another library."""


class Setting(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Named variables; `only` is the full name of the library that has them, '' for all."""

    name: str
    variables: dict[str, str]
    only: str = ""

    @property
    def transport(self) -> str:
        """The transport whose options it sets, '' if it sets variables."""
        return next(iter(self.variables)).rpartition(".")[0]

    @property
    def options(self) -> dict[str, str]:
        """The values by names of the transport's options."""
        return {name.rpartition(".")[2]: value for name, value in self.variables.items()}


def parse_settings(texts: Iterable[str]) -> list[Setting]:
    """Parse settings as written on the command line, each name once.

    Raises InputError for anything else.
    """
    settings = [parse_setting(text) for text in texts]
    check_settings(settings)
    return settings


def parse_setting(text: str) -> Setting:
    """Parse 'NAME: VAR=value VAR2="a value"'; raises InputError for anything else."""
    name, colon, assignments = text.partition(":")
    name = name.strip()
    if not colon:
        raise InputError(f"the setting {text!r} has no name", HOW)
    try:
        words = shlex.split(assignments)
    except ValueError as error:
        raise InputError(f"the setting {name!r} cannot be read: {error}", HOW) from error
    variables: dict[str, str] = {}
    for word in words:
        variable, equals, value = word.partition("=")
        if not equals:
            raise InputError(f"{word!r} of the setting {name!r} is no VAR=value", HOW)
        if variable in variables:
            raise InputError(f"{variable} stands twice in the setting {name!r}", "give it once")
        variables[variable] = value
    return Setting(name, variables)


def check_settings(settings: Sequence[Setting]) -> None:
    """Raises InputError for invalid names and variables, and for a repeated name."""
    names: set[tuple[str, str]] = set()
    for setting in settings:
        if not _NAME.fullmatch(setting.name):
            raise InputError(
                f"{setting.name!r} is no name of a setting",
                "begin with a letter or digit; those, '.', '_' and '-' may follow",
            )
        if (setting.name, setting.only) in names:
            raise InputError(f"the setting {setting.name!r} is given twice", "name it otherwise")
        names.add((setting.name, setting.only))
        if not setting.variables:
            raise InputError(f"the setting {setting.name!r} sets nothing", HOW)
        for variable, value in setting.variables.items():
            _check_variable(setting.name, variable, value)
        if len({variable.rpartition(".")[0] for variable in setting.variables}) > 1:
            raise InputError(
                f"the setting {setting.name!r} is for more than one transport",
                "give each transport its own setting, and variables another",
            )


def _check_variable(name: str, variable: str, value: str) -> None:
    if not _VARIABLE.fullmatch(variable):
        raise InputError(f"{variable!r} of the setting {name!r} is no name of a variable", HOW)
    if variable in _KEPT:
        raise InputError(
            f"the setting {name!r} may not set {variable}, which decides what library runs",
            "name another library with --mpi or --mpi-prefix",
        )
    if "\0" in value or "\n" in value:
        raise InputError(f"{variable} of the setting {name!r} is not one line", HOW)


def under(library: Library, setting: Setting) -> Library:
    """Return the library with the variables of a setting."""
    return dataclasses.replace(
        library,
        name=f"{library.name}{JOINT}{setting.name}",
        environment={**library.environment, **setting.variables},
    )


def split_name(name: str) -> tuple[str, str]:
    """Split a name in the store into the library and the setting ('' without one)."""
    library, _, setting = name.partition(JOINT)
    return library, setting
